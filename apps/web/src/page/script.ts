/**
 * The page's script: asks the API every second while somebody looks, or for the token where one is needed. Everything that comes from the API goes in as text, never as HTML. The token is kept for the tab
 * (sessionStorage) and sent to this origin alone.
 */
export const script = String.raw`
const byId = (id) => document.getElementById(id);
const PERIOD_MS = 1000;

async function get(path) {
  const token = sessionStorage.getItem('token');
  const headers = token ? { authorization: 'Bearer ' + token } : {};
  const response = await fetch(path, { headers, cache: 'no-store' });
  byId('token').hidden = response.status !== 401;
  if (!response.ok) throw new Error((await response.json()).detail);
  return response.json();
}

function fill(tableId, rows) {
  const body = document.createElement('tbody');
  for (const cells of rows) {
    const row = body.insertRow();
    for (const cell of cells) row.insertCell().textContent = cell === null ? '' : String(cell);
  }
  byId(tableId).tBodies[0].replaceWith(body);
}

const time = (iso) => iso === null ? null : new Date(iso).toLocaleTimeString();

async function show() {
  const [{ events }, { jobs }] = await Promise.all([get('/api/events?limit=20'), get('/api/jobs?limit=50')]);
  fill('events', events.map((event) => [
    time(event.createdAt), event.type, event.delivered + ' of ' + event.deliveries, event.id,
  ]));
  fill('jobs', jobs.map((job) => [
    time(job.createdAt), job.type, job.state, job.attempts + ' of ' + job.maxAttempts, time(job.runAt), job.lastError, job.id,
  ]));
  byId('status').textContent = 'Live, as of ' + new Date().toLocaleTimeString();
}

async function keepShowing() {
  if (!document.hidden && byId('token').hidden) await show().catch((error) => { byId('status').textContent = error.message; });
  setTimeout(keepShowing, PERIOD_MS);
}

byId('token').addEventListener('submit', (event) => {
  event.preventDefault();
  sessionStorage.setItem('token', byId('token').elements.namedItem('value').value);
  show().catch((error) => { byId('status').textContent = error.message; });
});
keepShowing();
`;
