import { z } from 'zod'
import { SpotContract } from './order.js'
import { engineAmount, enginePrice, type Shape, Side } from './values.js'

/** The checks of an order without placing it. Additive to the interface. */

/** The body of `POST /v1/orders/validate`. */
export const OrderVerdict = z
  .object({
    valid: z.boolean().describe('Whether `POST /v1/orders` would take it now; nothing was placed.'),
    refusal: z
      .object({
        status: z.int().describe('The status with which the order would be refused.'),
        error: z.string(),
        code: z.string(),
        field: z.string().optional(),
        detail: z.record(z.string(), z.unknown()).optional(),
        message: z.string().optional(),
      })
      .optional()
      .describe('Absent when it is valid.'),
    likely_mistake: z
      .object({ code: z.string(), message: z.string() })
      .optional()
      .describe('With a refused signature: the known mistake that explains it, if one does.'),
    market: z.string().optional(),
    engine_order: z.object({ side: Side, price: enginePrice, amount: engineAmount }).optional(),
    spot_contract: SpotContract.optional().describe('On markets that take `ui_intent`.'),
    signature_status: z
      .enum(['checked', 'unchecked'])
      .optional()
      .describe(
        '`unchecked`: the chain did not answer; the order would rest out of the book until it does.',
      ),
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: 'OrderVerdict', description: 'What would become of an order.' })
export type OrderVerdict = Shape<typeof OrderVerdict>
