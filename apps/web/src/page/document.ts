/** The page: recent events and jobs, live. It holds no data itself, and its policy lets it run nothing but its own script. */
import { createHash } from 'node:crypto';
import { script } from './script.ts';

const style = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #ddd; vertical-align: top; }
td { font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
`;

export function pageDocument(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fencepost</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<h1>Fencepost</h1>
<p id="status" role="status">Loading …</p>
<form id="token" hidden>
<label>API token <input name="value" type="password" autocomplete="off" required></label>
<button>Show</button>
</form>
<h2>Events</h2>
${table('events', ['At', 'Type', 'Delivered', 'Id'])}
<h2>Jobs</h2>
${table('jobs', ['At', 'Type', 'State', 'Attempts', 'Run at', 'Last error', 'Id'])}
<script>${script}</script>
</body>
</html>
`;
}

export const contentSecurityPolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: [hashOf(script)],
  styleSrc: [hashOf(style)],
  imgSrc: ['data:'],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

function table(id: string, columns: readonly string[]): string {
  const heads = columns.map((column) => `<th scope="col">${column}</th>`).join('');
  return `<table id="${id}"><thead><tr>${heads}</tr></thead><tbody></tbody></table>`;
}

function hashOf(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}
