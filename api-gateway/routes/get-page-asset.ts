import { assetOperation, builtFile, fileAsset, serveAssets } from '../pages.js'
import type { Route } from '../route.js'

const assets = new Map([
  ['main.js', fileAsset(builtFile('main.js'), 'text/javascript')],
  ['draw-chart.js', fileAsset(builtFile('draw-chart.js'), 'text/javascript')],
  ['style.css', fileAsset(builtFile('style.css'), 'text/css')],
])

/** `GET /web/{asset}`: a file of the terminal. A browser asks for it again with each visit: a release changes it. */
export const getPageAsset: Route = {
  method: 'GET',
  path: '/web/:asset',
  operation: assetOperation('readPageAsset', 'A file of the terminal'),
  isLarge: () => true,
  handler: () => serveAssets(assets, 0),
}
