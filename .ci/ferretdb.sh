#!/bin/sh
# A MongoDB-speaking server for the test suites, where no MongoDB is at hand: FerretDB on SQLite,
# on loopback only, its data thrown away when it stops.
#
#   .ci/ferretdb.sh start   prints MONGODB_URL once it answers; a second start changes nothing
#   .ci/ferretdb.sh stop    ends what start began
#
# Exit code 3, with one line on stderr, when it cannot be had here (no Go, no network).
set -eu

version=v1.24.0
port=${FERRETDB_PORT:-27018}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/reprise
binary=$cache/ferretdb-$version
run=$cache/ferretdb-$port
url=mongodb://127.0.0.1:$port/reprise_test

unavailable() {
  echo "ferretdb: $1" >&2
  exit 3
}

# FerretDB's main package wants its version in a file that the module does not carry, so that
# `go install` of it panics at start: a copy of the module gets the file and is built in place.
install() {
  command -v go >/dev/null || unavailable 'not installed, and no go to build it with'
  work=$(mktemp -d)
  module=$(cd "$work" && go mod download -json "github.com/FerretDB/FerretDB@$version" 2>"$cache/install.log" |
    sed -n 's/^[[:space:]]*"Dir": "\(.*\)",\{0,1\}$/\1/p')
  [ -n "$module" ] || unavailable "could not be downloaded, see $cache/install.log"
  cp -r "$module" "$work/ferretdb"
  chmod -R u+w "$work"
  echo "$version" >"$work/ferretdb/build/version/version.txt"
  (cd "$work/ferretdb" && CGO_ENABLED=0 GOFLAGS=-buildvcs=false \
    go build -trimpath -o "$binary.new" ./cmd/ferretdb >"$cache/install.log" 2>&1) ||
    unavailable "could not be built, see $cache/install.log"
  mv "$binary.new" "$binary"
  rm -rf "$work"
}

running() {
  [ -f "$run/pid" ] && kill -0 "$(cat "$run/pid")" 2>/dev/null
}

# Hello over the wire is what the driver does; that the port accepts is enough to begin.
answers() {
  node -e "require('node:net').connect($port, '127.0.0.1').on('connect', () => process.exit(0)).on('error', () => process.exit(1))"
}

start() {
  mkdir -p "$cache"
  [ -x "$binary" ] || install
  if ! running; then
    rm -rf "$run"
    mkdir -p "$run/data"
    "$binary" --handler=sqlite --sqlite-url="file:$run/data/" --state-dir="$run" \
      --listen-addr="127.0.0.1:$port" --debug-addr=- --telemetry=disable --log-level=ERROR \
      >"$run/log" 2>&1 </dev/null &
    echo $! >"$run/pid"
  fi
  tries=0
  until answers; do
    tries=$((tries + 1))
    running && [ $tries -lt 50 ] || unavailable "did not start, see $run/log"
    sleep 0.2
  done
  echo "$url"
}

stop() {
  if running; then
    pid=$(cat "$run/pid")
    kill "$pid"
    tries=0
    while kill -0 "$pid" 2>/dev/null && [ $tries -lt 50 ]; do
      tries=$((tries + 1))
      sleep 0.1
    done
  fi
  rm -rf "$run"
}

case ${1:-} in
start) start ;;
stop) stop ;;
*)
  echo 'usage: .ci/ferretdb.sh start|stop' >&2
  exit 2
  ;;
esac
