# What the scripts share. Sourced, from the root of the checkout.

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
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# The linker of every build, and the compiler of SQLite and the allocator.
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

# PostgreSQL refuses to run as root.
as_postgres() {
  if [ "$(id -u)" -eq 0 ]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' 2>/dev/null ||
    perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport'
}

# Starts a PostgreSQL of its own in the folder $1 and exports its URL. It keeps nothing, so it need not wait for disks,
# unless $2 is `durable`, as for measuring.
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

stop_postgres() {
  local data="$1/postgres"
  [ -f "$data/postmaster.pid" ] || return 0
  as_postgres "$(postgres_bin)/pg_ctl" -D "$data" -m immediate stop >/dev/null || true
}
