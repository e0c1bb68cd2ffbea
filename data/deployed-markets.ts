import { readFileSync } from 'node:fs'
import type { Market } from '../core/market.js'
import { loadMarkets, MarketFileError } from './load-markets.js'
import type { AddressBook } from './load-markets.js'

/**
 * The enabled markets of the shipped market file on the deployment that DEPLOYMENT_FILE describes. Throws
 * MarketFileError when the deployment cannot be read or lacks an address.
 */
export function loadDeployedMarkets(deploymentFile: string): Market[] {
  return loadMarkets(readAddresses(deploymentFile)).filter((market) => market.enabled)
}

function readAddresses(path: string): AddressBook {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as AddressBook
  } catch (cause) {
    throw new MarketFileError(`cannot read the deployment ${path}`, { cause })
  }
}
