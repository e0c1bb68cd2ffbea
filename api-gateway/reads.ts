import { setTimeout as delay } from 'node:timers/promises'
import type { MarketList } from '../core/contracts/market-terms.js'
import { openReadModel, ReadModelAbsent, type ReadModel } from '../data/history/read-model.js'
import type { Logger } from '../runtime/process/log.js'

/** Sets the terms of every market as the read model holds them; costs one read of an index for each. */
export function refreshMarkets(list: MarketList, readModel: Pick<ReadModel, 'terms'>): void {
  for (const { market } of list.markets) {
    const terms = readModel.terms(market)
    if (terms !== undefined) list.state(market, terms)
  }
}

const RETRY_MS = 200

/** Opens the read model, waiting until the projector has created it. */
export async function openReadModelWhenCreated(path: string, log: Logger): Promise<ReadModel> {
  for (let attempts = 0; ; attempts += 1) {
    try {
      return openReadModel(path)
    } catch (error) {
      if (!(error instanceof ReadModelAbsent)) throw error
      if (attempts === 0) log.info({ path }, 'waiting for the projector to create the read model')
      await delay(RETRY_MS)
    }
  }
}
