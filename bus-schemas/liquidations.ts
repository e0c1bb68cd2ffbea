import type {
  Liquidation,
  LiquidationEvent,
  LiquidationNews,
  LiquidationPlace,
} from '../core/contracts/liquidation.js'
import { hash, int, oneOf, priceE18, text, uint, whole } from '../core/wire/codec.js'
import { list, optional, struct } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'

/** What the chain reader tells of liquidations, of all markets in one stream. */

/** Most liquidations, and most that are taken back, of one message. */
export const MAX_LIQUIDATIONS = 500

const place = { market: text, blockHash: hash, logIndex: whole }

const liquidation = struct<Liquidation>({
  ...place,
  event: oneOf<LiquidationEvent>({
    auction_started: true,
    insolvent_auction_started: true,
    bid: true,
    auction_ended: true,
    takeover: true,
  }),
  subaccountId: uint,
  size: optional(int),
  price: optional(priceE18),
  portion: optional(uint),
  bySubaccountId: optional(uint),
  paid: optional(uint),
  received: optional(uint),
  txHash: hash,
  blockNumber: uint,
  blockTimeSec: whole,
})

/** One message of the stream; its number there is that of an update of the public channel. */
export const {
  version: LIQUIDATIONS_VERSION,
  encode: encodeLiquidations,
  decode: decodeLiquidations,
} = message(
  'liquidations',
  since(
    WIRE_VERSION,
    struct<LiquidationNews>({
      takenBack: list(struct<LiquidationPlace>(place), 0, MAX_LIQUIDATIONS),
      added: list(liquidation, 0, MAX_LIQUIDATIONS),
    }),
  ),
)
