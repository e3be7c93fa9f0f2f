#!/usr/bin/env bash
# Bring the newest build to the servers.
set -euo pipefail

source ./common.sh
. /etc/deploy.conf

readonly TARGET="/srv/app"
export RETRIES=3

# Say what is done, and when.
log() {
  printf '%s %s\n' "$(date +%T)" "$*" >&2
}

function upload {
  local host=$1
  for attempt in $(seq "$RETRIES"); do
    rsync -a build/ "$host:$TARGET" && return 0
    log "attempt $attempt failed"
  done
  return 1
}

function restart() {
  ssh "$1" <<EOF
systemctl restart app
EOF
}

main() {
  for host in "$@"; do
    upload "$host"
    restart "$host"
  done
}

main "$@"
