import { broken, type Route } from '../route.js'

/** Nothing from elsewhere, nothing inline; the page's style sheet holds its icons as data. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE = Buffer.from(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Order-book venue: interface</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
  </head>
  <body>
    <div id="page"></div>
    <noscript>The interface as JSON: <a href="v1/openapi.json">v1/openapi.json</a></noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`)

/** `GET /docs`: the interface as a page to browse; it reads `/v1/openapi.json` and loads from nowhere else. */
export const getDocs: Route = {
  method: 'GET',
  path: '/docs',
  operation: {
    id: 'readDocsPage',
    tag: 'Documentation',
    summary: 'This document as a page to browse',
    responses: {
      200: {
        description: 'The page.',
        contentType: 'text/html',
        headers: ['Content-Security-Policy', 'Cache-Control'],
      },
      500: broken,
    },
  },
  handler: () => (ctx) => {
    ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    ctx.set('X-Content-Type-Options', 'nosniff')
    ctx.set('Cache-Control', 'no-cache')
    ctx.type = 'text/html; charset=utf-8'
    ctx.body = PAGE
  },
}
