import { z } from 'zod'
import { LiquidationRecord, MAX_SNAPSHOT_LIQUIDATIONS } from './liquidation.js'
import { reqId, type Shape, time } from './values.js'

/** The frames of the channel `liquidations`, which is of no market. */

const liquidationsSeq = z
  .int()
  .min(0)
  .describe('Number of an update of liquidations, from 1 without gaps; that of no market.')

export const liquidationsSnapshot = z
  .object({
    type: z.literal('snapshot'),
    channel: z.literal('liquidations'),
    seq: liquidationsSeq,
    req_id: reqId,
    data: z.array(LiquidationRecord).max(MAX_SNAPSHOT_LIQUIDATIONS),
  })
  .meta({
    id: 'LiquidationsSnapshot',
    description: 'The newest liquidations of all markets, newest first.',
  })

export const LiquidationsUpdate = z
  .object({
    type: z.literal('update'),
    channel: z.literal('liquidations'),
    seq: liquidationsSeq,
    prev_seq: z.int().min(0),
    ts: time.describe('When the venue was told.'),
    data: z
      .array(LiquidationRecord)
      .describe(
        'First those that are taken back, with `reversed`, then the new ones, oldest first.',
      ),
  })
  .meta({ id: 'LiquidationsUpdate', description: 'What was seen of liquidations since.' })
export type LiquidationsUpdate = Shape<typeof LiquidationsUpdate>
