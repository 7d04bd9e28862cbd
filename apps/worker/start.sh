#!/usr/bin/env bash
# The image's entrypoint: brings the database to the schema of this release, then becomes the process that it was given,
# under the same pid, so that the platform's signals reach that process.
#
#     start.sh node apps/worker/dist/main.js
#
# Machines that start together take turns: Prisma's lock lets one of them migrate, and the others try again until it is
# done. A database that is not up yet gets the same patience, MIGRATE_WAIT_SECONDS. A failed migration is not tried
# again, because only a person can tell what is left of it; the message says which command settles it.
set -euo pipefail

say() { printf 'start: %s\n' "$@" >&2; }

fail() {
  say "$@"
  exit 1
}

# Streams what Prisma says and keeps it in $output. Migrating needs a session of its own, so the way around a
# transaction pooler is taken where there is one.
migrate() {
  output=$(
    DATABASE_URL=${DIRECT_URL:-${DATABASE_URL:-}} node db/engine/prisma.mjs migrate deploy 2>&1 |
      while IFS= read -r line; do
        printf '%s\n' "$line" >&2
        printf '%s\n' "$line"
      done
  )
}

# Says what a second try may find changed, or that there is no such thing.
passing_trouble() {
  case $output in
    *'advisory lock'*) echo 'another machine holds the migration lock' ;;
    *'Error: P1001'* | *'Error: P1002'* | *'Error: P1008'* | *'Error: P1017'*) echo 'the database cannot be reached' ;;
    *'database system is'* | *'not yet accepting connections'*) echo 'the database is starting or stopping' ;;
    *'too many connections'* | *'too many clients'* | *'connection slots'*) echo 'the database is out of connections' ;;
    *) return 1 ;;
  esac
}

failed_migrations() {
  printf '%s\n' "$output" |
    sed -nE 's/^The `([^`]+)` migration started at .* failed$/\1/p; s/^Migration name: (.+)$/\1/p'
}

# Explains each, and ends the script unless all of them are of a later release: those of this one are applied then, and
# a machine that runs it may come back while somebody repairs what a deploy has left.
face_failed_migrations() {
  local resolve='node db/engine/prisma.mjs migrate resolve' name ours=
  for name in $(failed_migrations); do
    [ ! -d "db/prisma/migrations/$name" ] || ours=yes
    say "The migration $name has failed, and none is applied until somebody has looked at what is left of it." \
      'In a checkout that has it, with DATABASE_URL set to this database, run' \
      "    $resolve --rolled-back $name" \
      'if none of its changes are there: the next start tries it again. If all of them are, or once you have made the' \
      'rest by hand, run' \
      "    $resolve --applied $name" \
      'docs/operations.md tells more, under "A migration failed".'
  done
  [ -z "$ours" ] || exit 1
  say 'This release does not have it and does not need it, so it starts.'
}

[ $# -gt 0 ] || fail 'expected a command to start, such as "node apps/worker/dist/main.js", found none'
patience=${MIGRATE_WAIT_SECONDS:-300}
[[ $patience =~ ^[0-9]{1,5}$ ]] ||
  fail "MIGRATE_WAIT_SECONDS: expected a whole number of seconds from 0 to 99999, found \"$patience\""

# A stop while migrating waits for the migration: one cut short is one that somebody has to resolve.
stopped=
trap 'stopped=143' TERM
trap 'stopped=130' INT

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
deadline=$((SECONDS + 10#$patience))
until migrate; do
  [ -z "$stopped" ] || break
  case $output in *'Error: P3009'* | *'Error: P3018'*)
    face_failed_migrations
    break
    ;;
  esac
  trouble=$(passing_trouble) || fail 'migrating failed, and another try would not help; Prisma says above why'
  [ "$SECONDS" -lt "$deadline" ] ||
    fail "gave up after $patience seconds: $trouble; docs/operations.md tells more, under \"When things go wrong\""
  say "$trouble, trying again"
  sleep 2
done

if [ -n "$stopped" ]; then
  say 'told to stop, so nothing is started'
  exit "$stopped"
fi
exec "$@"
