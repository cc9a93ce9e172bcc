package networkhub;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A link that can be cut as networks are: connections stay, nothing comes through, and what was sent arrives when it heals. */
public final class TcpProxy implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int target;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private boolean isCut;

    public TcpProxy(int target) throws IOException {
        this.target = target;
        daemon(() -> {
            while (true) serve(listener.accept());
        });
    }

    public String url() {
        return "http://127.0.0.1:" + listener.getLocalPort();
    }

    public synchronized void cut() {
        isCut = true;
    }

    public synchronized void heal() {
        isCut = false;
        notifyAll();
    }

    /** Ends all connections, as a router does that restarts. */
    public void dropConnections() throws IOException {
        for (Socket socket : sockets) socket.close();
        sockets.clear();
    }

    private synchronized void pass() throws InterruptedException {
        while (isCut) wait();
    }

    private void serve(Socket near) {
        sockets.add(near);
        daemon(() -> {
            pass();
            Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
            sockets.add(far);
            daemon(() -> copy(near, far));
            copy(far, near);
        });
    }

    private void copy(Socket from, Socket to) throws IOException, InterruptedException {
        try (from; to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] buffer = new byte[8192];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                pass();
                out.write(buffer, 0, read);
                out.flush();
            }
            pass();
        }
    }

    private interface Task {
        void run() throws IOException, InterruptedException;
    }

    private static void daemon(Task task) {
        Thread thread = new Thread(() -> {
            try {
                task.run();
            } catch (IOException | InterruptedException closed) {
                // The connection is over.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        heal();
        listener.close();
        for (Socket socket : sockets) socket.close();
    }
}
