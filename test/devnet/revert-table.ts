import { expect } from 'chai'
import { decodeErrorResult } from 'viem'
import { errorsAbi } from '../../chain/abi/errors.js'
import type { Hex } from '../../core/action.js'
import { openWorld, revertOf, type Call, type World } from '../support/devnet-world.js'

/** Selectors as a deployment of the public contracts returns them; spelled out, so that no hash of ours vouches for itself. */
const SELECTORS = {
  AC_CannotTransferAssetToOneself: '0x786025f5',
  AC_NotOwnerOrERC721Approved: '0xa4c6f48b',
  BLF_DataExpired: '0x32d5dc79',
  BLF_DataTooOld: '0x1141796d',
  BLF_DuplicatedSigner: '0x9d600198',
  BLF_InvalidSignature: '0x1607767a',
  BLF_InvalidSigner: '0x4d4e20e2',
  BLF_InvalidTimestamp: '0x0b06986d',
  BLF_NotEnoughSigners: '0x575d51de',
  BM_AccountUnderLiquidation: '0x72d35b56',
  BM_AdjustmentsPaused: '0x83d3980b',
  BM_AssetCapExceeded: '0x8102bcdc',
  BM_GuardianOnly: '0x6185c771',
  BM_NonceAlreadyUsed: '0xdfad89e3',
  BM_OnlyMatching: '0x7222a918',
  BM_UnauthorizedCall: '0xc67c6584',
  CA_InvalidSubId: '0x54dcbb86',
  CA_OnlyAccountOwner: '0xf5e4189a',
  CA_WithdrawBlockedByOngoingAuction: '0x93e8e9e4',
  DA_AccountIsAboveMaintenanceMargin: '0xae769b25',
  DA_AuctionAlreadyStarted: '0xd2422136',
  DA_AuctionCannotTerminate: '0x0898d5e6',
  DA_AuctionNotStarted: '0x01789e0e',
  DA_AuctionShouldBeTerminated: '0x2408a3ff',
  DA_CannotBidWithDifferentManager: '0x4cf3c8cf',
  DA_InsufficientCash: '0xdaee9cb6',
  DA_InvalidBidderPortfolio: '0xa9c6a434',
  DA_InvalidLastTradeId: '0xecd1b794',
  DA_InvalidPercentage: '0x40ced071',
  DA_NotOngoingAuction: '0xdf4fcb06',
  DA_NotWhitelistedManager: '0x597430d3',
  DA_OngoingSolventAuction: '0xef3f20b4',
  DA_PriceLimitExceeded: '0xb60d8a9a',
  DA_SenderNotOwner: '0x1fd884ef',
  DM_InvalidDepositActionLength: '0x48347f66',
  ERC20InsufficientAllowance: '0xfb8f41b2',
  ERC20InsufficientBalance: '0xe450d38c',
  ERC721IncorrectOwner: '0x64283d7b',
  ERC721InsufficientApproval: '0x177e802f',
  ERC721NonexistentToken: '0x7e273289',
  LM_InvalidFromAccount: '0x25185bc8',
  LSDF_InvalidConfidence: '0xadbd02c8',
  LSF_InvalidConfidence: '0xda30bafc',
  M_AccountAlreadyExists: '0xe05839b0',
  M_AccountNotReturned: '0x007a7259',
  M_ArrayLengthMismatch: '0x760c807b',
  M_MismatchedModule: '0x3ada085b',
  M_OnlyAllowedModule: '0xc07382c5',
  M_OnlyTradeExecutor: '0x97edd0fb',
  MW_UnknownManager: '0xbd8ac1f7',
  NotEnoughSubIdOrAssetAllowances: '0x2730b412',
  OV_ActionExpired: '0x3536eebd',
  OV_InvalidActionOwner: '0xdd223ec1',
  OV_InvalidSignature: '0x64c099fa',
  OV_NeedDeregister: '0xc89c41cf',
  OV_SessionKeyInvalid: '0xbff96988',
  OV_SignerNotOwnerOrSessionKeyExpired: '0xfcc6c155',
  OwnableUnauthorizedAccount: '0x118cdaa7',
  PA_InvalidImpactPrices: '0x6a9fcd90',
  PA_InvalidSubId: '0xa2245aaf',
  SafeCastOverflowedIntToUint: '0xa8ce4432',
  SAM_AlreadyRequestedWithdraw: '0x0b841602',
  SAM_CooldownNotElapsed: '0x7816e9ed',
  SAM_CooldownNotStarted: '0x5c12bd35',
  SAM_NotOwnerAddress: '0xce987687',
  SRM_NoNegativeCash: '0x703701fb',
  SRM_PortfolioBelowMargin: '0x09598580',
  SRM_TooManyAssets: '0x444d325a',
  SRM_UnsupportedAsset: '0x7b579bbc',
  TM_AssetMismatch: '0x315523d5',
  TM_AssetSubIdMismatch: '0xef0644bd',
  TM_FeeTooHigh: '0x02c7ec25',
  TM_FillLimitCrossed: '0xfea8fa6f',
  TM_InvalidActionsLength: '0x212c25b9',
  TM_InvalidNonce: '0x15b2a441',
  TM_InvalidRecipientId: '0x0f508934',
  TM_IsBidMismatch: '0xc916ff99',
  TM_PriceTooHigh: '0xba0e3964',
  TM_PriceTooLow: '0xe30b762a',
  TM_SignedAccountMismatch: '0xa5e66cdd',
  WERC_CannotBeNegative: '0xe5b25796',
  WERC_InvalidSubId: '0xabaa58b3',
  WERC_OnlyAccountOwner: '0x58341a4d',
  WM_InvalidFromAccount: '0xc7ee13e3',
  WM_InvalidWithdrawalActionLength: '0xef7a2dc2',
} as const

const PANIC_SELECTOR = '0x4e487b71'

/** The error a call must end with; a panic with its code, a revert without data, or none at all. */
export type Outcome =
  keyof typeof SELECTORS | 'Panic(0x12)' | 'Panic(0x32)' | 'an empty revert' | 'success'

/** One line of a table: what is attempted, how it must end, and the call, after whatever must happen before it. */
export type Row = readonly [
  attempt: string,
  outcome: Outcome,
  provoke: (world: World) => Promise<Call> | Call,
]

/** Runs each row on the same deployed world, which is put back after every row. */
export function describeOutcomes(
  title: string,
  rows: readonly Row[],
  prepare: (world: World) => Promise<unknown> = () => Promise.resolve(),
  open: () => Promise<World> = openWorld,
): void {
  describe(title, () => {
    let world: World
    let snapshot: Hex

    before(async () => {
      world = await open()
      await prepare(world)
    })
    beforeEach(async () => {
      snapshot = await world.client.snapshot()
    })
    afterEach(() => world.client.revert({ id: snapshot }))
    after(() => world.anvil.stop())

    for (const [attempt, outcome, provoke] of rows) {
      it(`${attempt}: ${outcome}`, async () => {
        expectOutcome(await revertOf(world, await provoke(world)), outcome)
      })
    }
  })
}

/** Judges revert data by the selector of the table, and the name our own error list gives to it. */
function expectOutcome(data: Hex | 'none', outcome: Outcome): void {
  if (outcome === 'success') {
    expect(data).to.equal('none')
  } else if (outcome === 'an empty revert') {
    expect(data).to.equal('0x')
  } else if (outcome === 'Panic(0x12)' || outcome === 'Panic(0x32)') {
    const code = outcome.slice('Panic(0x'.length, -1)
    expect(data).to.equal(PANIC_SELECTOR + code.padStart(64, '0'))
  } else {
    expect(nameOf(data)).to.equal(outcome)
    expect(data.slice(0, 10)).to.equal(SELECTORS[outcome])
  }
}

function nameOf(data: Hex | 'none'): string {
  if (data === 'none' || data === '0x') return data
  return decodeErrorResult({ abi: errorsAbi, data }).errorName
}
