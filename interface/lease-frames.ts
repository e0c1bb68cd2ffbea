import { z } from 'zod'
import { LEASE_MAX_SEC, LEASE_MIN_SEC } from './cancels.js'
import { leaseId, reqId, time, type Shape } from './values.js'

/** The frames of leases on the WebSocket; additive. */

export const cancelOnDisconnect = z
  .object({
    op: z.literal('cancel_on_disconnect'),
    seconds: z
      .int()
      .min(LEASE_MIN_SEC)
      .max(LEASE_MAX_SEC)
      .optional()
      .describe(
        'How long orders outlive a venue that is down; default 30. Of several sockets of an owner the shortest counts for all; the answer has it.',
      ),
    req_id: reqId,
  })
  .meta({
    id: 'CancelOnDisconnect',
    description:
      'After `auth`: asks for the `lease_id` of this socket. Orders that are placed with it are cancelled when the socket closes, also those in flight. Answered by `lease`.',
  })

export const cancelAllAfter = z
  .object({
    op: z.literal('cancel_all_after'),
    seconds: z.union([z.literal(0), z.int().min(LEASE_MIN_SEC).max(LEASE_MAX_SEC)]),
    market: z
      .string()
      .optional()
      .describe('A symbol, an alias, or `asset_address:sub_id`; default all markets.'),
    req_id: reqId,
  })
  .meta({
    id: 'CancelAllAfterFrame',
    description:
      'After `auth`: cancels all orders of the address unless it is sent again in time; 0 disarms. Answered by `lease`.',
  })

export const LeaseFrame = z
  .object({
    type: z.literal('lease'),
    seconds: z.int().min(0),
    lease_id: leaseId
      .optional()
      .describe('Answers `cancel_on_disconnect`: orders with this `lease_id` end with the socket.'),
    ends_at: time
      .optional()
      .describe('Answers `cancel_all_after`: when the orders are cancelled unless it is renewed.'),
    req_id: reqId,
  })
  .meta({ id: 'LeaseFrame', description: 'The lease is in the log of every market it covers.' })
export type LeaseFrame = Shape<typeof LeaseFrame>
