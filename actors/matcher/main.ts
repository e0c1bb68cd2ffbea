import { fileURLToPath } from 'node:url'
import { orExit } from '../../runtime/process/cannot-start.js'
import { EVERY_OTHER_MARKET, readMatcherConfig } from './config.js'
import { runEveryMarket } from './every-market.js'
import { runMarket, runOtherMarkets } from './processes.js'

const config = orExit(readMatcherConfig)

if (config.MARKET === undefined) runEveryMarket(config, fileURLToPath(import.meta.url))
else if (config.MARKET === EVERY_OTHER_MARKET) runOtherMarkets(config)
else runMarket(config, config.MARKET)
