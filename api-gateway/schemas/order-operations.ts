import { z } from 'zod'
import { duplicateBody } from './error-body.js'
import { type Operation, readRefusals, refused } from './operation.js'
import { orderAnswer, orderLookup } from './order-record.js'
import { cancelBody, newOrder } from './order-requests.js'
import { serviceAuth } from './service-auth.js'
import { orderId } from './values.js'

/** What every endpoint that reads a body may answer before it looks at it. */
const bodyRefusals = {
  413: refused('The body is larger than 64 KiB.'),
  415: refused('The body is compressed.'),
} as const

export const placeOrder: Operation = {
  id: 'placeOrder',
  tag: 'Orders',
  summary: 'Place a signed order',
  description:
    'Answered once the market has decided: `active`, or `matching` when it crossed at once. ' +
    'Safe to send again with the same `order_id`: a repeat is a 409, never a second order.',
  body: newOrder,
  responses: {
    200: { description: 'The order as it stands.', body: orderAnswer },
    400: refused(
      'Malformed, inconsistent, or not authorized by its signature; nothing was placed.',
    ),
    409: { description: 'The id or the nonce is taken.', body: duplicateBody },
    ...bodyRefusals,
    500: refused('Not known, or not placed: safe to retry with the same `order_id`.'),
  },
}

export const cancelOrder: Operation = {
  id: 'cancelOrder',
  tag: 'Orders',
  summary: 'Cancel an active order',
  description:
    'What is already matched still settles. A venue may be set up to refuse cancels without proof.',
  headers: z.object({
    'X-Service-Auth': serviceAuth
      .optional()
      .describe('Proof of the owner, in place of a signature.'),
  }),
  body: cancelBody,
  responses: {
    200: { description: 'The order as the cancel left it.', body: orderAnswer },
    400: refused('Malformed.'),
    403: refused('A protected namespace, or a proof that is missing, void or another owner’s.'),
    404: refused('No active order of this owner with this nonce.'),
    ...bodyRefusals,
    500: refused('Not known whether it was cancelled: safe to retry.'),
  },
}

export const lookUpOrder: Operation = {
  id: 'lookUpOrder',
  tag: 'Orders',
  summary: 'Look one order up by its id',
  path: z.object({ order_id: orderId }),
  responses: {
    200: { description: 'The order wherever it stands.', body: orderLookup },
    404: refused('No such order was ever taken.'),
    ...readRefusals,
  },
}
