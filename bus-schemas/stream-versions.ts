import { BLOCK_VERSION } from './blocks.js'
import { checkpointVersion } from './checkpoint-form.js'
import { commandMessages, type LogMarket } from './commands.js'
import { LIQUIDATIONS_VERSION } from './liquidations.js'
import { REGISTRATION_VERSION } from './register.js'
import {
  checkpointsStream,
  commandsStream,
  feedStream,
  liquidationsStream,
  registerStream,
  transfersStream,
} from './subjects.js'
import { TRANSFER_PROGRESS_VERSION } from './transfers.js'

/** The version of the messages that this build writes into each stream, which is the greatest that it reads. */
export const streamVersions = (markets: readonly LogMarket[]): ReadonlyMap<string, number> =>
  new Map([
    [registerStream, REGISTRATION_VERSION],
    [transfersStream, TRANSFER_PROGRESS_VERSION],
    [liquidationsStream, LIQUIDATIONS_VERSION],
    ...markets.flatMap((market) => [...marketVersions(market)]),
  ])

/** The same for the streams of one market. */
export const marketVersions = (market: LogMarket): ReadonlyMap<string, number> =>
  new Map([
    [commandsStream(market.market), commandMessages(market).version],
    [feedStream(market.market), BLOCK_VERSION],
    [checkpointsStream(market.market), checkpointVersion(market)],
  ])
