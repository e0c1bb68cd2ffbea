import { readFileSync } from 'node:fs'
import type { Deployment } from '../chain/reads/deployment.js'
import { matchingDomain, permitDomain } from '../chain/signing/vectors.js'
import {
  frameMessage,
  HISTORY_FRAME_MAX_SEC,
  SOCKET_FRAME_MAX_SEC,
  type FramePurpose,
} from '../core/entry/auth-frame.js'
import { typeString } from '../core/entry/signed-structs.js'
import type { Market } from '../core/model/market.js'
import type { VenueFacts } from '../interface/signing.js'
import { clientLimits } from './client-limits.js'
import type { GatewayDeps, ServiceAuth } from './context.js'

/** The release of this build: the version of its package. */
export const RELEASE = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
).version

/** The words of `data` for each module, in their order. */
const DATA_WORDS = {
  trade_data:
    'TradeData(address asset,uint256 subId,int256 limitPrice,int256 desiredAmount,uint256 worstFee,uint256 recipientId,bool isBid)',
  deposit_data: 'DepositData(uint256 amount,address asset,address managerForNewAccount)',
  withdrawal_data: 'WithdrawalData(address asset,uint256 amount)',
}

/** What `GET /v1/venue` shows. */
export function venueFacts(
  deployment: Deployment,
  { header, words }: ServiceAuth,
  markets: readonly Market[],
  deps: Partial<Pick<GatewayDeps, 'chain' | 'devnet' | 'orderRate' | 'largeReads'>> = {},
): VenueFacts {
  const { chain, devnet } = deps
  return {
    release: RELEASE,
    chain_id: deployment.chainId,
    chain: {
      name: chain?.name ?? `Chain ${deployment.chainId}`,
      ...(chain?.rpc_url !== undefined && { rpc_url: chain.rpc_url }),
      ...(chain?.explorer_url !== undefined && { explorer_url: chain.explorer_url }),
    },
    contracts: contractsOf(deployment, markets),
    domains: { actions: matchingDomain(deployment), permits: permitDomain(deployment) },
    types: {
      action: typeString('Action'),
      cancel: typeString('Cancel'),
      cancel_all: typeString('CancelAll'),
      permit: typeString('Permit'),
      ...DATA_WORDS,
    },
    markets: markets.map((market) => ({
      market: market.market,
      trade_module_address: market.tradeModuleAddress,
      asset_address: market.assetAddress,
      sub_id: String(market.subId),
      amount_scale: String(market.amountScale),
      taker_fee_bps: market.takerFeeBps,
      maker_fee_bps: market.makerFeeBps,
    })),
    frames: {
      header,
      ...words,
      history: { text: frameText('history', words), max_valid_seconds: HISTORY_FRAME_MAX_SEC },
      socket: { text: frameText('socket', words), max_valid_seconds: SOCKET_FRAME_MAX_SEC },
    },
    limits: clientLimits(deps),
    documents: {
      openapi: '/v1/openapi.json',
      asyncapi: '/v1/asyncapi.json',
      signing_vectors: '/v1/signing-vectors.json',
    },
    ...(devnet !== undefined && { devnet }),
  }
}

function contractsOf(deployment: Deployment, markets: readonly Market[]): VenueFacts['contracts'] {
  const { perpManager, batchExecutor, subAccountCreator } = deployment
  return {
    matching: deployment.matching,
    sub_accounts: deployment.subAccounts,
    deposit_module: deployment.depositModule,
    withdrawal_module: deployment.withdrawalModule,
    usdc: deployment.usdc,
    cngn: deployment.cngn,
    wrapped_usdc: deployment.wrappedUsdc,
    wrapped_cngn: deployment.wrappedCngn,
    cash_asset: deployment.cashAsset,
    ...(perpManager !== undefined && { perp_manager: perpManager }),
    ...(batchExecutor !== undefined && { batch_executor: batchExecutor }),
    ...(subAccountCreator !== undefined && { sub_account_creator: subAccountCreator }),
    ...managersOf(markets),
  }
}

/** The manager of the accounts of each contract type, as the markets of that type name it. */
const managersOf = (markets: readonly Market[]): VenueFacts['contracts'] =>
  Object.fromEntries(
    markets.map(({ contractType, marginManagerAddress }) => [
      `${contractType}_manager`,
      marginManagerAddress,
    ]),
  )

/** The text of a frame with the names of its fields in braces. */
function frameText(purpose: FramePurpose, words: ServiceAuth['words']): string {
  const text = frameMessage(purpose, words, {
    address: '{address}',
    nonce: '{nonce}',
    issuedAt: 0,
    expiry: 0,
  })
  return text.replace('Issued At: 0', 'Issued At: {issued_at}').replace('Time: 0', 'Time: {expiry}')
}
