import type { Address } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import { isUnnamed, revertFields } from '../../core/revert.js'

/** What of a deployment a refused call goes through. */
export interface RefusedBy {
  readonly matching: Address
  /** Who sends the call to matching. */
  readonly sender: Address
  /** Who lets the batch executor send matches, where they go through one. */
  readonly operator?: Address
  readonly module: Address
  readonly manager: Address
  readonly assets: readonly Address[]
  /** An account for fees takes part, with the manager that it has. */
  readonly paysFees?: boolean
}

type Cure = (by: RefusedBy) => string

const newPrices = 'sign newer prices and send them, or raise the heartbeat'
const listed = ({ assets }: RefusedBy): string => assets.join(' and ')
/** The words, where an account for fees takes part. */
const ofFees = ({ paysFees }: RefusedBy, words: string): string => (paysFees === true ? words : '')

/** By the name of a revert; each says what an operator does about it. */
const CURES: ReadonlyMap<string, Cure> = new Map<string, Cure>([
  [
    'M_OnlyTradeExecutor',
    ({ matching, sender }) => `setTradeExecutor(${sender}, true) on ${matching}`,
  ],
  [
    'BE_OnlyOperator',
    ({ sender, operator = 'the executor' }) => `setOperator(${operator}, true) on ${sender}`,
  ],
  [
    'M_OnlyAllowedModule',
    ({ matching, module }) => `setAllowedModule(${module}, true) on ${matching}`,
  ],
  [
    'BM_AdjustmentsPaused',
    (by) =>
      `the guardian of ${by.manager}${ofFees(by, ', or of the manager of the account for fees,')} ends the pause: setAdjustmentsPaused(false)`,
  ],
  [
    'BM_AssetCapExceeded',
    (by) => `setTotalPositionCap(${by.manager}, …) on ${listed(by)}, whichever is reached`,
  ],
  [
    'MW_UnknownManager',
    (by) =>
      `setWhitelistManager(${by.manager}, true) on ${listed(by)}${ofFees(by, ', or setFeeRecipient of an account under a manager that they accept')}`,
  ],
  [
    'SRM_UnsupportedAsset',
    (by) =>
      `whitelistAsset of ${listed(by)} on ${by.manager}${ofFees(by, ' and on the manager of the account for fees')}`,
  ],
  ['BLF_DataTooOld', () => `a feed is old: ${newPrices}`],
  ['FT_IndexStale', () => `the index of the future is old: ${newPrices}`],
  [
    'FT_OutsideFillBand',
    () => 'the mark is outside the band of the index: see who moves the marks',
  ],
  ['FT_TradingEnded', () => 'the series has ended: list the next one, and disable this row'],
  ['FA_UnknownSeries', () => 'no such series: createSeries, or correct sub_id'],
  ['FM_OnlyTradeModule', ({ module, manager }) => `setTradeModule(${module}, true) on ${manager}`],
  [
    'PA_InvalidImpactPrices',
    () => 'the impact bid is above the impact ask: sign new prices of both',
  ],
  [
    'NotEnoughSubIdOrAssetAllowances',
    () => 'the owner of the account for fees allows the trade module: setAssetAllowances',
  ],
  [
    'CA_WithdrawBlockedByOngoingAuction',
    () => 'an insolvent auction is larger than the security module: endow it, or wait for its end',
  ],
  [
    'BM_OnlyMatching',
    ({ module, matching }) => `${module} belongs to another matching contract than ${matching}`,
  ],
  ['WM_InvalidFromAccount', swapped],
  ['WM_InvalidWithdrawalActionLength', swapped],
  ['DM_InvalidDepositActionLength', swapped],
  ['TM_InvalidActionsLength', swapped],
  ['OV_InvalidSignature', ({ matching }) => `${matching} hashes actions otherwise: check chain_id`],
  [
    'SRM_NoNegativeCash',
    () => 'the accounts paid more than the venue counts: look for a fee of the manager',
  ],
  [
    'SRM_PortfolioBelowMargin',
    () =>
      'several times the margin is not enough: look at the margin rates and the feeds of the manager',
  ],
])

function swapped(): string {
  return 'modules are swapped: correct their addresses in DEPLOYMENT_FILE'
}

/** What an operator does about a revert, in words; what it names, where no cure is known. */
export function cureOf(revert: string, by: RefusedBy): string {
  const cure = CURES.get(revert)
  if (cure !== undefined) return cure(by)
  const { revert: name } = revertFields(revert)
  if (name === 'Error') return `a token refuses it, or ${by.manager}: ask its issuer`
  if (name.startsWith('ERC20'))
    return `a token refuses it: compare the tokens of ${listed(by)} with DEPLOYMENT_FILE`
  if (isUnnamed(name))
    return `a contract is called that is not there, or is another: compare what ${by.manager} and ${listed(by)} name`
  return `ask who runs ${by.manager}`
}

const FEEDS = 'see that its feeds are updated (./venue up runs a feeder on a local chain only)'

/** What ends a hold that the facts of a market show. */
const HOLD_CURES: Readonly<Partial<Record<string, (market: Market) => string>>> = {
  chain_stale: () => 'the newest block is old: the node is behind, or the chain stands still',
  trading_paused: ({ marginManagerAddress: manager }) =>
    `the guardian of ${manager} ends the pause: setAdjustmentsPaused(false)`,
  trading_disabled: ({ assetAddress: asset, marginManagerAddress: manager }) =>
    `its trade module is not allowed, the cap of ${manager} on ${asset} is 0, or ${asset} is disabled`,
  prices_stale: () => `a feed is old, not set or crossed; ${FEEDS}`,
  index_stale: ({ subId }) => `the index is old, or there is no series ${subId}; ${FEEDS}`,
  trading_ended: () => 'the series has ended: list the next one, and disable this row',
}

/** What ends a hold of a market, in words. */
export const holdCureOf = (reason: string, market: Market): string =>
  HOLD_CURES[reason]?.(market) ?? 'see docs/OPERATING.md'
