import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../bus-schemas/log.js'
import { type ReadModel, ReadModelAbsent, openReadModel } from '../data/read-model.js'

const LOOK_EVERY_MS = 200

/** Opens the read model, waiting for as long as the projector has not made it yet. */
export async function openReadModelWhenMade(path: string, log: Logger): Promise<ReadModel> {
  for (let looked = 0; ; looked += 1) {
    try {
      return openReadModel(path)
    } catch (error) {
      if (!(error instanceof ReadModelAbsent)) throw error
      if (looked === 0) log.info({ path }, 'waiting for the projector to make the read model')
      await delay(LOOK_EVERY_MS)
    }
  }
}
