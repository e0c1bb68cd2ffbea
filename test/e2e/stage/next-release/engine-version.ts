import {
  assertEngineVersion as assertKnown,
  ENGINE_VERSION as PUBLISHED,
} from '../../../../core/engine/engine-version.js'

export * from '../../../../core/engine/engine-version.js'

export const ENGINE_VERSION = PUBLISHED + 1

export const assertEngineVersion = (market: string, version: number): void =>
  assertKnown(market, version, ENGINE_VERSION)
