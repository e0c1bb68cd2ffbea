import { refusals } from '../../core/entry/refusals.js'
import { refuse } from '../context.js'
import { broken, refused, type Route } from '../route.js'

/** `GET /v1/ws` without an upgrade, which the relay in `ws-upgrade.ts` takes: 426, and what to upgrade to. */
export const getWs: Route = {
  method: 'GET',
  path: '/v1/ws',
  operation: {
    id: 'openSocket',
    tag: 'Market data',
    summary: 'Open a WebSocket',
    description: 'Its frames are described in `/v1/asyncapi.json`.',
    responses: {
      101: { description: 'The connection carries WebSocket frames from here on.' },
      426: {
        ...refused('The request does not ask for an upgrade to WebSocket.'),
        headers: ['Upgrade'],
      },
      500: broken,
    },
  },
  handler: () => (ctx) => {
    ctx.set('Upgrade', 'websocket')
    ctx.set('Connection', 'Upgrade')
    refuse(ctx, refusals.upgradeRequired)
  },
}
