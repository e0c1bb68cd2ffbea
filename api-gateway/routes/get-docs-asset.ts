import { fileURLToPath } from 'node:url'
import { documents } from '../docs/pages.js'
import { assetOperation, builtFile, fileAsset, serveAssets, type Asset } from '../pages.js'
import type { Route } from '../route.js'

const assets: ReadonlyMap<string, Asset> = new Map([
  ...documents,
  ['swagger-ui.css', packaged('swagger-ui.css', 'text/css')],
  ['interface.css', fileAsset(builtFile('docs/interface.css'), 'text/css')],
  ['swagger-ui-bundle.js', packaged('swagger-ui-bundle.js', 'text/javascript')],
  ['favicon-32x32.png', packaged('favicon-32x32.png', 'image/png')],
  ['start.js', fileAsset(builtFile('docs/main.js'), 'text/javascript')],
])

function packaged(name: string, type: string): Asset {
  return fileAsset(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)), type)
}

/** `GET /docs/{asset}`: a document of the interface, or a file of a page. */
export const getDocsAsset: Route = {
  method: 'GET',
  path: '/docs/:asset',
  operation: assetOperation(
    'readDocsAsset',
    '`start`, `feed`, `codes`, `first-fill`, `rules`, or a file of a page',
  ),
  isLarge: () => true,
  handler: () => serveAssets(assets),
}
