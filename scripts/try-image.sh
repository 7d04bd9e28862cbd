#!/usr/bin/env bash
# Builds the image and tries it out beside a real Postgres, with nothing but Docker: four containers that migrate at
# once, web and worker on a read-only filesystem, events that are delivered, and workers that are stopped while they
# have a job in flight. Takes a few minutes, cleans up after itself, and ends with 0 if everything was as it should be.
#
#     scripts/try-image.sh [arguments of "docker build", such as --network host]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

image=fencepost:try
run=fencepost-try-$$
token=only-for-this-trial
database_url=postgresql://postgres:only-for-this-trial@$run-postgres:5432/fencepost
# What fly.toml gives a worker between SIGTERM and the end.
kill_timeout=$(sed -nE 's/^kill_timeout = ([0-9]+)$/\1/p' fly.toml)

cleanup() {
  local containers
  containers=$(docker ps -aq --filter "label=$run")
  [ -z "$containers" ] || docker rm -fv $containers >/dev/null
  docker network rm "$run" >/dev/null 2>&1 || true
}

ok() { echo "ok: $*"; }

fail() {
  echo "failed: $*" >&2
  for name in web worker; do
    echo "--- the last of $name" >&2
    docker logs --tail 30 "$run-$name" >&2 2>&1 || true
  done
  exit 1
}

# start NAME [arguments of "docker run"] -- [command]
start() {
  local name=$1 options=()
  shift
  while [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  shift
  docker run --detach --name "$run-$name" --label "$run" --network "$run" --read-only --cap-drop ALL \
    --security-opt no-new-privileges --env DATABASE_URL="$database_url" --env API_TOKEN="$token" \
    --env PORT=8080 --env ALLOW_PRIVATE_WEBHOOKS=1 ${options[@]+"${options[@]}"} "$image" "$@" >/dev/null
}

# wait_for WHAT COMMAND…: tries the command again until it succeeds.
wait_for() {
  local what=$1 deadline=$((SECONDS + 120)) said
  shift
  until said=$("$@" 2>&1); do
    [ "$SECONDS" -lt "$deadline" ] || fail "not within two minutes: $what; at last $1 said: $said"
    sleep 0.5
  done
  ok "$what"
}

sql() { docker exec "$run-postgres" psql -U postgres -d fencepost -Atc "$1"; }

is_true() { [ "$(sql "SELECT $1")" = t ]; }

# request METHOD URL [JSON]: prints the body of a 2xx answer, and fails with any other.
request() {
  docker exec --env METHOD="$1" --env URL="$2" --env JSON="${3:-}" --env TOKEN="$token" "$run-web" node -e '
    const { METHOD: method, URL: url, JSON: body, TOKEN } = process.env;
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    fetch(url, { method, headers, ...(body && { body }) }).then(async (answer) => {
      console.log(await answer.text());
      process.exitCode = answer.ok ? 0 : 1;
    });'
}

api() { request "$1" "http://localhost:8080$2" "${3:-}"; }

# subscribe PATH-OF-THE-RECEIVER: every event of the type of that name goes there.
subscribe() {
  api POST /api/endpoints "{\"url\":\"http://$run-receiver:9000/$1\",\"secret\":\"$token\",\"eventTypes\":[\"$1\"]}" \
    >/dev/null
}

emit() { api POST /api/events "{\"type\":\"$1\",\"payload\":{\"n\":1}}" >/dev/null; }

stop_worker() {
  local before=$SECONDS code
  docker stop -t "$kill_timeout" "$run-worker" >/dev/null
  code=$(docker inspect --format '{{.State.ExitCode}}' "$run-worker")
  [ "$code" = 0 ] || fail "the worker ended with exit code $code"
  is_true "NOT EXISTS (SELECT FROM job_queue WHERE state = 'running')" || fail 'a job is running that nobody runs'
  ok "docker stop: the worker drained in $((SECONDS - before)) s (of $kill_timeout), exit code 0, no job left running"
}

trap cleanup EXIT
docker build --file apps/worker/Dockerfile --tag "$image" "$@" .
ok "the image is built, $(($(docker image inspect --format '{{.Size}}' "$image") / 1000000)) MB with its base"

docker network create "$run" >/dev/null
docker run --detach --name "$run-postgres" --label "$run" --network "$run" --env POSTGRES_DB=fencepost \
  --env POSTGRES_PASSWORD=only-for-this-trial postgres:17-alpine >/dev/null

# At once, and before Postgres answers.
for n in 1 2 3 4; do start "migrate-$n" -- true; done
for n in 1 2 3 4; do
  [ "$(docker wait "$run-migrate-$n")" = 0 ] || { docker logs "$run-migrate-$n"; fail "container $n did not migrate"; }
done
is_true 'count(*) > 0 AND count(*) = count(DISTINCT migration_name) AND bool_and(finished_at IS NOT NULL)
  FROM _prisma_migrations' || fail 'migrations were applied twice or not at all'
ok 'four containers at once applied every migration once'

start receiver --entrypoint node -- -e '
  const answer = { "/fast": 0, "/slow": 5_000 };
  require("node:http").createServer(({ url }, response) => {
    if (url in answer) setTimeout(() => response.end(), answer[url]);
  }).listen(9000);'
start web -- node apps/web/dist/main.js
# As the image has it.
start worker --
wait_for 'web: /healthz and /readyz' api GET /readyz
request GET http://localhost:8080/healthz >/dev/null || fail '/healthz of web'
wait_for 'worker: /healthz' request GET "http://$run-worker:8081/healthz"
request GET "http://$run-worker:8081/readyz" >/dev/null || fail '/readyz of the worker'
request GET "http://$run-worker:8081/metrics" | grep -q '^fencepost_slots ' || fail '/metrics of the worker'
for name in web worker; do
  [ "$(docker exec "$run-$name" id -u)" != 0 ] || fail "$name runs as root"
  docker exec "$run-$name" cat /proc/1/cmdline | tr '\0' ' ' | grep -q '^node ' || fail "$name: node is not process 1"
done
ok 'both run as a user, with node as process 1, on a read-only filesystem'

for name in fast slow never; do subscribe "$name"; done
for _ in 1 2 3 4 5; do emit fast; done
wait_for 'five events were delivered' is_true 'count("deliveredAt") = 5 FROM delivery'

emit slow
wait_for 'a job of five seconds is in flight' is_true "EXISTS (SELECT FROM job_queue WHERE state = 'running')"
stop_worker
is_true 'count("deliveredAt") = 6 FROM delivery' || fail 'the job in flight was not finished'
ok 'the job in flight was finished first'

docker rm "$run-worker" >/dev/null
start worker --env DRAIN_TIMEOUT=2s --
emit never
wait_for 'a job that does not end is in flight' is_true "EXISTS (SELECT FROM job_queue WHERE state = 'running')"
stop_worker
is_true "count(*) = 1 FROM job_queue WHERE state = 'pending' AND attempts = 0 AND claims = 1 AND \"runAt\" <= now()" ||
  fail 'the job in flight was not handed back uncharged and due at once'
ok 'the job in flight was handed back, uncharged and due at once'

docker stop -t 30 "$run-web" >/dev/null
[ "$(docker inspect --format '{{.State.ExitCode}}' "$run-web")" = 0 ] || fail 'web did not end with exit code 0'
ok "docker stop: web ended with exit code 0; the image stays as $image"
