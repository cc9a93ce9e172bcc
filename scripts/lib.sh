# Functions that the scripts share. Sourced from the root of the checkout.

# A fresh rustup is on the PATH of new login shells only.
command -v cargo >/dev/null || export PATH="$HOME/.cargo/bin:$PATH"

# Installs Debian packages by name, as root or through sudo.
install_packages() {
  local sudo=
  [ "$(id -u)" -eq 0 ] || sudo=sudo
  if ! command -v apt-get >/dev/null || { [ -n "$sudo" ] && ! command -v sudo >/dev/null; }; then
    echo "please install (Debian's names): $*" >&2
    return 1
  fi
  echo "installing: $*" >&2
  # Steps run side by side, and apt refuses what does. A service that a package starts must not keep the lock.
  (
    flock 9
    $sudo apt-get update -qq 9>&-
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 9>&-
  ) 9>"${TMPDIR:-/tmp}/network-hub-packages.lock"
}

# Links every build, and compiles SQLite and the allocator.
need_compiler() {
  command -v cc >/dev/null || install_packages gcc libc6-dev
}

# The folder of PostgreSQL's programs: initdb and pg_ctl are not on the PATH on Debian.
postgres_bin() {
  local folder
  for folder in /usr/lib/postgresql/*/bin; do
    [ -x "$folder/initdb" ] && echo "$folder" && return
  done
  command -v initdb >/dev/null && dirname "$(command -v initdb)"
}

need_postgres() {
  [ -n "$(postgres_bin)" ] || install_packages postgresql
}

need_wasm_target() {
  rustup target list --installed | grep -qx wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown
}

# Builds modules in other languages than Rust; their packages are installed by npm and pip during the build.
need_module_tools() {
  command -v clang-14 >/dev/null && command -v wasm-ld-14 >/dev/null || install_packages clang-14 lld-14
  command -v npm >/dev/null || install_packages nodejs npm
  python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3 python3-venv
}

# Builds the Java connector.
need_java() {
  command -v javac >/dev/null && command -v javadoc >/dev/null || install_packages openjdk-17-jdk-headless
  [ -f /usr/share/java/gson.jar ] || install_packages libgoogle-gson-java
}

# Prints the folder of a JDK of this version or a newer one; fails without a word if there is none.
jdk_home() {
  local home version
  for home in "${JAVA_HOME:-}" "$(dirname "$(dirname "$(realpath "$(command -v javac || echo /none)")")")" /usr/lib/jvm/*; do
    [ -x "$home/bin/javac" ] && [ -f "$home/release" ] || continue
    version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release")
    if [ "${version:-0}" -ge "$1" ]; then
      echo "$home"
      return
    fi
  done
  return 1
}

# Runs the Java connector's tests.
need_junit() {
  [ -f /usr/share/java/junit-jupiter-engine.jar ] || install_packages junit5
}

# The class path of JUnit's console.
junit_classpath() {
  local jars=/usr/share/java
  printf "$jars/%s.jar\n" junit-jupiter-api junit-jupiter-engine junit-platform-commons junit-platform-console junit-platform-engine \
    junit-platform-launcher junit-platform-reporting opentest4j opentest4j-reporting-events opentest4j-reporting-schema \
    apiguardian-api picocli | paste -sd:
}

# Prints the folder of the libraries that a list names by version and hash, fetched once, beside the build. Without an argument they are
# those that the jars for server software are compiled and tested with: connectors/java/libraries.
java_libraries() {
  local folder list=${1:-connectors/java/libraries}
  folder=$(realpath -m "${CARGO_TARGET_DIR:-target}/java-$(basename "${1:-libraries}")")
  echo "$folder"
  if (cd "$folder" && sha256sum --check --strict --status -) <"$list/SHA256SUMS" 2>/dev/null; then return; fi
  if ! command -v mvn >/dev/null; then install_packages maven >&2; fi
  echo "fetching the libraries of $list" >&2
  # Joined, because a shell in $(…) does not end at an error.
  rm -rf "$folder" && mkdir -p "$folder" &&
    mvn --batch-mode --quiet -Dstyle.color=never --file "$list/pom.xml" dependency:copy-dependencies -DoutputDirectory="$folder" >&2 &&
    (cd "$folder" && sha256sum --check --strict --quiet -) <"$list/SHA256SUMS" >&2
}

# The pages' commands read answers with it.
need_jq() {
  command -v jq >/dev/null || install_packages jq
}

# Makes the certificates for the tests of encrypted mail.
need_openssl() {
  command -v openssl >/dev/null || install_packages openssl
}

# The bus between nodes; the tests start their own.
need_nats() {
  command -v nats-server >/dev/null || install_packages nats-server
}

# Falsifies a process's clock. Faults of the clock are left out where it can't be installed.
need_faketime() {
  compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null || install_packages faketime || true
}

# A pooler in front of PostgreSQL.
need_pgbouncer() {
  command -v pgbouncer >/dev/null || install_packages pgbouncer
}

# The load balancers that deploy/ configures.
need_balancers() {
  command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || install_packages nginx-light
  command -v haproxy >/dev/null || [ -x /usr/sbin/haproxy ] || install_packages haproxy
}

# Network namespaces, in which tests cut nodes off.
need_namespaces() {
  command -v ip >/dev/null || install_packages iproute2
}

# Makes a folder for what tests write and prints its path: in memory if there is plenty, because a database for each test costs
# more on a disk than the test does. Containers often have little of it, or no programs there.
scratch_folder() {
  local shared=/dev/shm room memory options
  room=$(df --output=avail "$shared" 2>/dev/null | tail -n 1)
  memory=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  options=$(findmnt -no OPTIONS -T "$shared" || echo noexec)
  if [ "${room:-0}" -ge $((4 << 20)) ] && [ "${memory:-0}" -ge $((6 << 20)) ] && [[ ",$options," != *,noexec,* ]]; then
    mktemp -d -p "$shared" network-hub-tests.XXXXXX
  else
    mktemp -d
  fi
}

# PostgreSQL refuses to run as root.
as_postgres() {
  if [ "$(id -u)" -eq 0 ]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi
}

# A port below those that systems give to connections, any of which could take it before a program listens.
free_port() {
  local port
  while port=$((10000 + RANDOM % 20000)); (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}

# Starts a PostgreSQL in the folder $1 and exports its URL. It does not wait for the disk unless $2 is `durable`, for
# measuring.
start_postgres() {
  local data="$1/postgres" bin port safety="-c fsync=off -c synchronous_commit=off -c full_page_writes=off"
  [ "${2:-}" != durable ] || safety=
  bin=$(postgres_bin)
  port=$(free_port)
  mkdir -p "$data"
  chmod 755 "$1"
  [ "$(id -u)" -ne 0 ] || chown postgres "$data"
  as_postgres "$bin/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null
  as_postgres "$bin/pg_ctl" -D "$data" -l "$data/log" -w start >/dev/null -o "-p $port -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories= $safety -c max_connections=300 -c shared_buffers=128MB"
  export HUB_TEST_POSTGRES="postgres://postgres@127.0.0.1:$port/postgres"
}

# Stops the PostgreSQL in the folder $1, with its data in the subfolder $2 of `postgres`, if given.
stop_postgres() {
  local data="$1/postgres${2:+/$2}"
  [ -f "$data/postmaster.pid" ] || return 0
  as_postgres "$(postgres_bin)/pg_ctl" -D "$data" -m immediate stop >/dev/null || true
}

# Starts a PgBouncer in transaction mode in front of the PostgreSQL of start_postgres, in the folder $1, and exports its URL
# without a database. Two connections for each database, so that transactions often change sessions.
start_pgbouncer() {
  local folder="$1/pgbouncer" port server
  port=$(free_port)
  server=${HUB_TEST_POSTGRES##*@}
  server=${server%%/*}
  mkdir -p "$folder"
  [ "$(id -u)" -ne 0 ] || chown postgres "$folder"
  cat >"$folder/pgbouncer.ini" <<EOF
[databases]
* = host=${server%:*} port=${server#*:} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 1000
server_idle_timeout = 1
logfile = $folder/log
pidfile = $folder/pid
EOF
  as_postgres "$(command -v pgbouncer)" --quiet --daemon "$folder/pgbouncer.ini"
  export HUB_TEST_PGBOUNCER="postgres://postgres@127.0.0.1:$port"
}

stop_pgbouncer() {
  local pid="$1/pgbouncer/pid"
  [ ! -f "$pid" ] || kill "$(cat "$pid")" || true
}

# Installs the Python packages of the list $1 once, in the folder $2 beside the build, and prints the path of their Python.
python_with() {
  local requirements=$1 folder
  folder=$(realpath -m "${CARGO_TARGET_DIR:-target}/$2")
  echo "$folder/bin/python"
  if cmp -s "$requirements" "$folder/installed.txt"; then return; fi
  if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then install_packages python3 python3-venv; fi
  echo "installing the Python tools of $requirements" >&2
  # Joined, because a shell in $(…) does not end at an error.
  rm -rf "$folder" && python3 -m venv "$folder" &&
    "$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements" >&2 &&
    cp "$requirements" "$folder/installed.txt"
}

# The Python tools of the tests; exports the path of their Python.
need_python_tools() {
  HUB_TEST_PYTHON=$(python_with tests/python.txt python)
  export HUB_TEST_PYTHON
}

# Builds, checks and tests the Python connector; exports the path of the Python that does.
need_python_connector_tools() {
  HUB_CONNECTOR_PYTHON=$(python_with connectors/python/tools.txt connector-python)
  export HUB_CONNECTOR_PYTHON
}

# Installs the Node tools of tests/end_to_end/package.json once, beside the build, and exports the folder of their programs.
need_node_tools() {
  local folder source=tests/end_to_end
  folder=$(realpath -m "${CARGO_TARGET_DIR:-target}/node")
  export HUB_NODE_TOOLS="$folder/node_modules/.bin"
  if cmp -s "$source/package-lock.json" "$folder/installed.json"; then return; fi
  command -v npm >/dev/null || install_packages nodejs npm
  echo "installing the Node tools of the tests" >&2
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$source/package.json" "$source/package-lock.json" "$folder/"
  npm ci --prefix "$folder" --silent --no-audit --no-fund
  cp "$source/package-lock.json" "$folder/installed.json"
}

# A browser, for the test of the interactive reference.
need_browser() {
  command -v chromium >/dev/null || install_packages chromium
}

# Exports the path of a hub: HUB_BINARY if set, else the one on the PATH, else the release build, else the debug build.
need_hub() {
  local target=${CARGO_TARGET_DIR:-target} found
  for found in "${HUB_BINARY:-$(command -v hub)}" "$target/release/hub" "$target/debug/hub"; do
    if [ -x "$found" ]; then
      HUB_BINARY=$(realpath "$found")
      export HUB_BINARY
      return
    fi
    [ -z "${HUB_BINARY:-}" ] || break
  done
  echo "no hub${HUB_BINARY:+ at $HUB_BINARY}: run \`cargo build --release\`, or set HUB_BINARY" >&2
  return 1
}

# Generates the models of a connector from the hub's document.
generate_models() {
  need_hub
  python3 connectors/generate "$1"
}

# Starts the built hub's demo on a free port, in the folder $1. Exports HUB_URL, HUB_PID and HUB_KEY, its owner's key.
start_demo() {
  local data="$1/demo" binary="${HUB_BINARY:-${CARGO_TARGET_DIR:-target}/debug/hub}"
  mkdir -p "$data"
  HUB_LOG=${HUB_LOG:-warn} "$binary" demo --listen 127.0.0.1:0 --data "$data/hub" >"$data/out" 2>"$data/log" &
  HUB_PID=$!
  # It prints its key after it has compiled its modules and connected its servers.
  for _ in $(seq 1200); do
    HUB_KEY=$(grep -m1 -oE 'hub_[A-Za-z0-9]+_[A-Za-z0-9_]+' "$data/out" || true)
    HUB_URL=$(sed -n 's/^listening on //p' "$data/out")
    [ -z "$HUB_KEY" ] || [ -z "$HUB_URL" ] || break
    kill -0 "$HUB_PID" || { cat "$data/log" >&2; return 1; }
    sleep 0.1
  done
  export HUB_KEY HUB_PID HUB_URL
}

# Runs the TypeScript connector. Some distributions have an older version, which is not replaced.
need_node() {
  command -v npm >/dev/null || install_packages nodejs npm
  if [ "$(node -p 'parseInt(process.versions.node)')" -lt 20 ]; then
    echo "Node.js 20 or newer is needed, and $(command -v node) is $(node --version):" \
      "install a newer one (https://nodejs.org/en/download) and put it first on the PATH" >&2
    return 1
  fi
}

# Installs the npm packages of a folder's lock file once.
need_npm_packages() {
  need_node
  if cmp -s "$1/package-lock.json" "$1/node_modules/installed.json"; then return; fi
  echo "installing the npm packages of $1" >&2
  npm ci --prefix "$1" --silent --no-audit --no-fund
  cp "$1/package-lock.json" "$1/node_modules/installed.json"
}

# Starts the built hub on a free port with a SQLite of its own in the folder $1. Exports HUB_URL, HUB_PID and HUB_KEY, an
# owner's key. More arguments go to `hub serve`.
start_hub() {
  local data="$1/hub" binary="${HUB_BINARY:-${CARGO_TARGET_DIR:-target}/debug/hub}"
  shift
  mkdir -p "$data"
  HUB_KEY=$("$binary" admin network create tests --data "$data" --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["apiKey"])')
  HUB_LOG=${HUB_LOG:-warn} "$binary" serve --listen 127.0.0.1:0 --data "$data" "$@" >"$data/out" 2>"$data/log" &
  HUB_PID=$!
  for _ in $(seq 300); do
    HUB_URL=$(sed -n 's/^listening on //p' "$data/out")
    [ -z "$HUB_URL" ] || break
    kill -0 "$HUB_PID" || { cat "$data/log" >&2; return 1; }
    sleep 0.1
  done
  export HUB_KEY HUB_PID HUB_URL
}

stop_hub() {
  [ -n "${HUB_PID:-}" ] || return 0
  kill "$HUB_PID" 2>/dev/null || return 0
  wait "$HUB_PID" || true
}
