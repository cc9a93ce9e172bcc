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

# Runs a function with steps beside what follows; what it prints is shown in one piece when it ends: beside FUNCTION
beside() {
  (
    output=$(mktemp "$STEPS/output.XXXXXX") status=0
    "$@" >"$output" 2>&1 </dev/null || status=$?
    cat "$output"
    [ "$status" -eq 0 ] || tail -n 60 "$output" >>"$STEPS/failed"
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

# The table of all steps, and before it the last words of those that failed beside others: nobody finds them in the middle.
print_table() {
  if [ -s "$STEPS/failed" ]; then
    printf '\n── failed beside other steps\n'
    cat "$STEPS/failed"
  fi
  printf '\n| step | seconds | outcome |\n|---|---|---|\n'
  cat "$STEPS/table"
  echo
}
