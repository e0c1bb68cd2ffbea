import type { TicketInput } from '../../web/select/planned.js'

/** What a trader has typed: a limit order that buys 10 at 1,600. */
export const TYPED: TicketInput = {
  kind: 'limit',
  side: 'buy',
  price: '1600',
  size: '10',
  unit: 'base',
  guardBps: 100n,
  force: 'GTC',
  post: 'off',
  reduceOnly: false,
}
