import { parseClientFrame } from '../../actors/ws-fanout/client-frames.js'
import { readCancelAllFrame } from '../../actors/ws-fanout/cancel-all.js'
import { readLease } from '../../actors/ws-fanout/leases.js'
import { readAuthFrame } from '../../core/entry/auth-frame.js'
import { readCancel, readCancelAll } from '../../core/entry/read-cancels.js'
import { readReduction, readReplacement } from '../../core/entry/read-change.js'
import { validateOrder } from '../../core/entry/validate-order.js'
import { clientFrames } from '../../interface/socket.js'
import { signedOrderBody } from '../support/builders.js'
import { NOW_MS, places } from '../support/transfer-bodies.js'
import { BEYOND_ORDER, codeOf, isObject, markets, type Fields, type Kind } from './kind.js'

/** What a frame is refused for: by its parser, and by what answers it, without the session. */
function refusalOfFrame(body: unknown): string | undefined {
  if (!isObject(body)) return 'invalid_json'
  const parsed = parseClientFrame(JSON.stringify(body))
  if ('problem' in parsed) return parsed.problem.code
  const { frame } = parsed
  if (frame.op === 'auth') {
    const read = readAuthFrame(frame.fields)
    // The verifier checks the form of its signature.
    const isForm = 'frame' in read && /^0x[0-9a-fA-F]{130}$/.test(read.frame.signature)
    return isForm ? undefined : 'auth_failed'
  }
  if (frame.op === 'cancel_on_disconnect' || frame.op === 'cancel_all_after') {
    const lease = readLease({ findMarket: (name) => name }, frame)
    return typeof lease === 'string' ? lease : undefined
  }
  if (frame.op === 'cancel_all') {
    const read = readCancelAllFrame({ findMarket: (name) => name }, frame.fields, places.owner)
    return typeof read === 'string'
      ? read
      : codeOf(readCancelAll(read.body, { market: 'cNGN-USDC' }))
  }
  if (!('body' in frame)) return undefined
  const order: unknown = JSON.parse(frame.body)
  if (frame.op === 'cancel') return codeOf(readCancel(order))
  if (frame.op === 'reduce') return codeOf(readReduction(order))
  if (frame.op === 'place') return codeOf(validateOrder(order, { markets, nowMs: NOW_MS }))
  const read = readReplacement(order)
  return codeOf('order' in read ? validateOrder(read.order, { markets, nowMs: NOW_MS }) : read)
}

/** A frame of the socket. Its order is one of those above. */
const frameOf = (
  op: keyof typeof clientFrames,
  valid: readonly Fields[],
  beyondSchema: readonly string[] = [],
): Kind => ({
  schema: clientFrames[op],
  valid,
  objects: valid.some((each) => 'order' in each) ? ['order'] : [],
  refusalOf: refusalOfFrame,
  shapeRefusalOf: refusalOfFrame,
  unread: ({ channel }) => [
    ...(channel === 'levels' ? [] : ['depth']),
    ...(channel === 'candles' ? [] : ['interval']),
  ],
  beyondSchema,
  beyondBody: [],
})
export const frameKinds: Readonly<Record<string, Kind>> = {
  'frame subscribe': frameOf(
    'subscribe',
    [
      { op: 'subscribe', channel: 'book', market: 'cNGN-USDC', since_seq: 0, req_id: 'a' },
      { op: 'subscribe', channel: 'orders', since: { 'cNGN-USDC': 7 } },
      { op: 'subscribe', channel: 'levels', market: 'cNGN-USDC', depth: 10 },
      { op: 'subscribe', channel: 'candles', market: 'cNGN-USDC', interval: '1h' },
    ],
    ['bad_channel'],
  ),
  'frame unsubscribe': frameOf(
    'unsubscribe',
    [
      { op: 'unsubscribe', channel: 'book', market: 'cNGN-USDC', req_id: 'a' },
      { op: 'unsubscribe', channel: 'levels', market: 'cNGN-USDC', depth: 10 },
    ],
    ['bad_channel'],
  ),
  'frame ping': frameOf('ping', [{ op: 'ping', req_id: 'a' }]),
  'frame auth': frameOf('auth', [
    {
      op: 'auth',
      address: places.owner,
      signature: `0x${'5e'.repeat(65)}`,
      nonce: 'n',
      issued_at: 1_800_000_000,
      expiry: 1_800_000_060,
      req_id: 'a',
    },
  ]),
  'frame place': frameOf(
    'place',
    [{ op: 'place', req_id: 'a', order: await signedOrderBody() }],
    ['invalid_integer', 'invalid_action_json', ...BEYOND_ORDER],
  ),
  'frame cancel': frameOf(
    'cancel',
    [{ op: 'cancel', req_id: 'a', order: { owner_address: places.owner, nonce: '7' } }],
    ['invalid_integer', 'invalid_expiry'],
  ),
  'frame replace': frameOf(
    'replace',
    [
      {
        op: 'replace',
        req_id: 'a',
        order: { ...(await signedOrderBody()), replaces_nonce: '7' },
      },
    ],
    ['invalid_integer', 'invalid_action_json', ...BEYOND_ORDER],
  ),
  'frame reduce': frameOf(
    'reduce',
    [
      {
        op: 'reduce',
        req_id: 'a',
        order: { owner_address: places.owner, nonce: '7', desired_amount: '0.5' },
      },
    ],
    ['invalid_integer', 'invalid_expiry'],
  ),
  'frame cancel_all': frameOf('cancel_all', [
    {
      op: 'cancel_all',
      req_id: 'a',
      market: 'cNGN-USDC',
      side: 'buy',
      subaccount_id: '7',
      reason: 'done',
    },
  ]),
  'frame cancel_on_disconnect': frameOf('cancel_on_disconnect', [
    { op: 'cancel_on_disconnect', seconds: 10, req_id: 'a' },
  ]),
  'frame cancel_all_after': frameOf('cancel_all_after', [
    { op: 'cancel_all_after', seconds: 0, market: 'cNGN-USDC', req_id: 'a' },
  ]),
}
