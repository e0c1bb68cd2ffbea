import { answerPage, pageAnswer } from '../pages.js'
import { broken, type Route } from '../route.js'

const PAGE = Buffer.from(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Order-book venue: interface</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="stylesheet" href="docs/interface.css">
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
  </head>
  <body>
    <div id="page"></div>
    <noscript>The interface as JSON: <a href="v1/openapi.json">v1/openapi.json</a></noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script type="module" src="docs/start.js"></script>
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
      200: pageAnswer('The page.'),
      500: broken,
    },
  },
  handler: () => (ctx) => answerPage(ctx, PAGE),
}
