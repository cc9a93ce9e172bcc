# Steps with names, one after another or side by side, and a table of their times. Sourced after lib.sh.

STEPS=${STEPS:-$(mktemp -d)}
export STEPS
BESIDE=()

# Runs a command as a step: step NAME COMMAND…
step() {
  local name=$1 began=$SECONDS status=0
  shift
  echo "── $name"
  "$@" || status=$?
  record "$name" "$began" "$status"
  return "$status"
}

# Runs a command beside what follows; what it prints is shown in one piece when it ends: beside NAME COMMAND…
beside() {
  local name=$1
  shift
  (
    output=$(mktemp "$STEPS/output.XXXXXX") began=$SECONDS status=0
    "$@" >"$output" 2>&1 </dev/null || status=$?
    exec 9>"$STEPS/lock"
    flock 9
    echo "── $name"
    cat "$output"
    record "$name" "$began" "$status"
    exit "$status"
  ) &
  BESIDE+=("$!")
}

# Waits for all that runs beside, and fails if any of it failed.
join() {
  local process status=0
  for process in "${BESIDE[@]}"; do wait "$process" || status=1; done
  BESIDE=()
  return "$status"
}

# Ends what still runs beside, with its children.
stop_beside() {
  local process
  for process in "${BESIDE[@]}"; do pkill -TERM -P "$process" || true; done
}

record() {
  local outcome=ok
  [ "$3" -eq 0 ] || outcome=FAILED
  echo "── $1: $outcome, $((SECONDS - $2)) s"
  printf '| %s | %s | %s |\n' "$1" "$((SECONDS - $2))" "$outcome" >>"$STEPS/table"
}

print_table() {
  printf '\n| step | seconds | outcome |\n|---|---|---|\n'
  cat "$STEPS/table"
  echo
}
