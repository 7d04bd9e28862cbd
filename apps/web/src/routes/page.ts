/** The one page. Open to all: what it shows, it asks of the API, with the token that its reader gives it. */
import { Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { contentSecurityPolicy, pageDocument } from '../page/document.ts';

export function pageRoutes(): Hono {
  const html = pageDocument();
  return new Hono().get('/', secureHeaders({ contentSecurityPolicy }), (c) => c.html(html));
}
