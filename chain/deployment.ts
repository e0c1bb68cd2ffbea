import type { Address } from '../core/action.js'

/** Addresses of one deployment, as DEPLOYMENT_FILE (on the devnet `devnet.json`) names them. */
export interface Deployment {
  readonly chainId: number
  readonly matching: Address
  readonly subAccounts: Address
  readonly spotTradeModule: Address
  readonly depositModule: Address
  readonly withdrawalModule: Address
  readonly usdc: Address
  readonly cngn: Address
  readonly wrappedUsdc: Address
  readonly wrappedCngn: Address
  readonly cashAsset: Address
  readonly spotManager: Address
}
