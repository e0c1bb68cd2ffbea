import { decodeErrorResult, parseAbi, RpcRequestError } from 'viem'
import type { Hex } from '../../core/action.js'
import {
  EMPTY_REVERT,
  OUT_OF_GAS,
  panicRevert,
  selectorRevert,
  textRevert,
} from '../../core/revert.js'
import { isRateLimit } from '../reads/rate-limit.js'
import { ReadFailure } from '../reads/read-failure.js'

/**
 * Every error that can reach the caller of a venue contract, for naming a revert by its selector. The names hold for
 * any deployment with this interface, those of perps, feeds and auctions included. An empty revert matches none.
 */
export const errorsAbi = parseAbi([
  // Matching
  'error M_AccountAlreadyExists()',
  'error M_AccountNotReturned()',
  'error M_ArrayLengthMismatch()',
  'error M_MismatchedModule()',
  'error M_OnlyAllowedModule()',
  'error M_OnlyTradeExecutor()',
  'error OV_ActionExpired()',
  'error OV_InvalidActionOwner()',
  'error OV_InvalidSignature()',
  'error OV_NeedDeregister()',
  'error OV_SessionKeyInvalid()',
  'error OV_SignerNotOwnerOrSessionKeyExpired()',
  'error SAM_AlreadyRequestedWithdraw()',
  'error SAM_CooldownNotElapsed()',
  'error SAM_CooldownNotStarted()',
  'error SAM_NotOwnerAddress()',
  // BatchExecutor
  'error BE_NotAMatch()',
  'error BE_OnlyOperator()',
  // TradeModule
  'error BM_NonceAlreadyUsed()',
  'error BM_OnlyMatching()',
  'error TM_AssetMismatch()',
  'error TM_AssetSubIdMismatch()',
  'error TM_FeeTooHigh()',
  'error TM_FillLimitCrossed()',
  'error TM_InvalidActionsLength()',
  'error TM_InvalidNonce()',
  'error TM_InvalidRecipientId()',
  'error TM_IsBidMismatch()',
  'error TM_PriceTooHigh()',
  'error TM_PriceTooLow()',
  'error TM_SignedAccountMismatch()',
  // DepositModule
  'error DM_InvalidDepositActionLength()',
  // WithdrawalModule
  'error WM_InvalidFromAccount()',
  'error WM_InvalidWithdrawalActionLength()',
  // SubAccounts
  'error AC_CannotChangeToSameManager(address caller, uint256 accountId)',
  'error AC_CannotTransferAssetToOneself(address caller, uint256 accountId)',
  'error AC_InvalidNonce()',
  'error AC_InvalidPermitSignature()',
  'error AC_NotOwnerOrERC721Approved(address spender, uint256 accountId, address owner, address manager, address approved)',
  'error AC_OnlyAsset()',
  'error AC_OnlyManager()',
  'error AC_SignatureExpired()',
  'error AC_TooManyTransfers()',
  'error DL_DeltasTooLong()',
  'error NotEnoughSubIdOrAssetAllowances(address caller, uint256 accountId, int256 amount, uint256 subIdAllowance, uint256 assetAllowance)',
  // CashAsset
  'error CA_DonateBalanceNotAuthorized()',
  'error CA_ForceWithdrawNegativeBalance()',
  'error CA_ForceWithdrawNotAuthorized()',
  'error CA_InterestAccrualStale(uint256 lastUpdatedAt, uint256 currentTimestamp)',
  'error CA_InvalidSubId()',
  'error CA_NotAccount()',
  'error CA_NotLiquidationModule()',
  'error CA_OnlyAccountOwner()',
  'error CA_SmFeeInvalid(uint256 fee)',
  'error CA_UnknownManager()',
  'error CA_WithdrawBlockedByOngoingAuction()',
  'error MW_OnlyAccounts()',
  'error MW_UnknownManager()',
  // WrappedERC20Asset
  'error PT_CapExceeded()',
  'error WERC_CannotBeNegative()',
  'error WERC_InvalidSubId()',
  'error WERC_OnlyAccountOwner()',
  // PerpAsset
  'error PA_InvalidConvergencePeriod()',
  'error PA_InvalidImpactPrices()',
  'error PA_InvalidRateBounds()',
  'error PA_InvalidStaticInterestRate()',
  'error PA_InvalidSubId()',
  'error PA_WrongManager()',
  // StandardManager
  'error BM_AccountUnderLiquidation()',
  'error BM_AdjustmentsPaused()',
  'error BM_AssetCapExceeded()',
  'error BM_GuardianOnly()',
  'error BM_InvalidBidPortion()',
  'error BM_InvalidLiquidation()',
  'error BM_InvalidMaxAccountSize()',
  'error BM_MinOIFeeTooHigh()',
  'error BM_NotImplemented()',
  'error BM_OnlyAccounts()',
  'error BM_OnlyLiquidationModule()',
  'error BM_UnauthorizedCall()',
  'error SRM_InvalidBaseDiscountFactor()',
  'error SRM_InvalidDepegParams()',
  'error SRM_InvalidOptionMarginParams()',
  'error SRM_InvalidOracleContingencyParams()',
  'error SRM_InvalidPerpMarginParams()',
  'error SRM_MarketNotCreated()',
  'error SRM_NoForwardPrice()',
  'error SRM_NoNegativeCash()',
  'error SRM_NotAccounts()',
  'error SRM_NotWhitelistManager()',
  'error SRM_PortfolioBelowMargin()',
  'error SRM_TooManyAssets()',
  'error SRM_UnsupportedAsset()',
  // SRMPortfolioViewer
  'error BM_OIFeeRateTooHigh()',
  // DutchAuction
  'error DA_AccountIsAboveMaintenanceMargin()',
  'error DA_AuctionAlreadyInInsolvencyMode()',
  'error DA_AuctionAlreadyStarted()',
  'error DA_AuctionCannotTerminate()',
  'error DA_AuctionNotStarted()',
  'error DA_AuctionShouldBeTerminated()',
  'error DA_CannotBidWithDifferentManager()',
  'error DA_InsufficientCash()',
  'error DA_InvalidBidderPortfolio()',
  'error DA_InvalidLastTradeId()',
  'error DA_InvalidParameter()',
  'error DA_InvalidPercentage()',
  'error DA_NotOngoingAuction()',
  'error DA_NotWhitelistedManager()',
  'error DA_OngoingSolventAuction()',
  'error DA_PriceLimitExceeded()',
  'error DA_ReservedCashGreaterThanMtM()',
  'error DA_SenderNotOwner()',
  'error DA_SolventAuctionEnded()',
  // SecurityModule
  'error SM_NotWhitelisted()',
  // LiquidateModule
  'error LM_InvalidFromAccount()',
  'error LM_InvalidLiquidateActionLength()',
  // LyraSpotFeed and LyraSpotDiffFeed
  'error BLF_DataTooOld()',
  'error BLF_DataExpired()',
  'error BLF_DuplicatedSigner()',
  'error BLF_InvalidRequiredSigners()',
  'error BLF_InvalidSignature()',
  'error BLF_InvalidSigner()',
  'error BLF_InvalidTimestamp()',
  'error BLF_NotEnoughSigners()',
  'error BLF_SignatureSignersLengthMismatch()',
  'error LSDF_InvalidConfidence()',
  'error LSF_InvalidConfidence()',
  // FutureAsset
  'error FA_AlreadySettled()',
  'error FA_FallbackOutOfRange()',
  'error FA_FixingComplete()',
  'error FA_FixingIncomplete()',
  'error FA_HasPositions()',
  'error FA_InvalidAmount()',
  'error FA_InvalidExpiry()',
  'error FA_InvalidFeed()',
  'error FA_MarkMoveTooLarge()',
  'error FA_MarkOutsideBand()',
  'error FA_MarkTooSoon()',
  'error FA_OnlyKeeper()',
  'error FA_OnlySeriesCreator()',
  'error FA_SampleNotNewer()',
  'error FA_SampleTooLate()',
  'error FA_SeriesExpired()',
  'error FA_TooEarly()',
  'error FA_TooManySeries()',
  'error FA_UnknownSeries()',
  // FuturesManager
  'error FM_AboveMaintenance()',
  'error FM_InvalidRates()',
  'error FM_NoDebt()',
  'error FM_NotAccountOwner()',
  'error FM_NotAccrued()',
  'error FM_NotAccruedAtIndex()',
  'error FM_NotBankrupt()',
  'error FM_NotEnoughCngn()',
  'error FM_NotSettled()',
  'error FM_OnlyFutureAsset()',
  'error FM_OnlyTradeModule()',
  'error FM_SameAccount()',
  'error FM_Settled()',
  // FutureLiquidationModule
  'error FL_InvalidActionLength()',
  'error FL_InvalidFromAccount()',
  'error FL_PriceBeyondLimit()',
  // FutureTradeModule
  'error FT_IndexStale()',
  'error FT_OutsideFillBand()',
  'error FT_TradingEnded()',
  // inherited from OpenZeppelin
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InvalidApprover(address approver)',
  'error ERC20InvalidReceiver(address receiver)',
  'error ERC20InvalidSender(address sender)',
  'error ERC20InvalidSpender(address spender)',
  'error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)',
  'error ERC721InsufficientApproval(address operator, uint256 tokenId)',
  'error ERC721InvalidApprover(address approver)',
  'error ERC721InvalidOperator(address operator)',
  'error ERC721InvalidOwner(address owner)',
  'error ERC721InvalidReceiver(address receiver)',
  'error ERC721InvalidSender(address sender)',
  'error ERC721NonexistentToken(uint256 tokenId)',
  'error OwnableInvalidOwner(address owner)',
  'error OwnableUnauthorizedAccount(address account)',
  'error ReentrancyGuardReentrantCall()',
  'error SafeCastOverflowedIntToUint(int256 value)',
  'error SafeCastOverflowedIntDowncast(uint8 bits, int256 value)',
  'error SafeCastOverflowedUintDowncast(uint8 bits, uint256 value)',
  'error SafeCastOverflowedUintToInt(uint256 value)',
  'error SafeERC20FailedOperation(address token)',
  // the language itself, and tokens that revert with a text
  'error Error(string message)',
  'error Panic(uint256 code)',
])

/** How the chain refused a call: the name of the error, and its bytes. */
export interface Revert {
  readonly name: string
  readonly data: Hex
}

const EVM_FAILURE =
  /revert|invalid opcode|out of gas|outofgas|gas required exceeds|stack (over|under)flow|invalid jump/i
const GAS_FAILURE = /out of gas|outofgas|gas required exceeds/i

/** How journals and records name an error with these bytes; core/revert.ts presents it to the public. */
export function revertName(data: Hex): string {
  if (data === '0x') return EMPTY_REVERT
  try {
    const { errorName, args } = decodeErrorResult({ abi: errorsAbi, data })
    if (errorName === 'Panic') return panicRevert(args[0])
    if (errorName === 'Error') return textRevert(args[0])
    return errorName
  } catch {
    return selectorRevert(data)
  }
}

/** The revert in an error of the client; undefined when the node did not run the call. */
export function revertOf(error: unknown): Revert | undefined {
  const answer = rpcErrorOf(error)
  if (answer === undefined) return undefined
  const data = hexIn(answer.data)
  const text = `${answer.message} ${answer.details}`
  if (data === undefined && !EVM_FAILURE.test(text)) return undefined
  if ((data ?? '0x') === '0x' && GAS_FAILURE.test(text)) return { name: OUT_OF_GAS, data: '0x' }
  return { name: revertName(data ?? '0x'), data: data ?? '0x' }
}

/**
 * The error that the node answered, from the chain of causes; undefined when the node gave no answer. That it is asked too much is
 * none: it has not looked at the question.
 */
export function rpcErrorOf(error: unknown): RpcRequestError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof RpcRequestError) return isRateLimit(at) ? undefined : at
  }
  return undefined
}

/** Depending on the node, the bytes are the error's `data` or a member of it. */
function hexIn(data: unknown): Hex | undefined {
  if (typeof data === 'string') return /^0x[0-9a-fA-F]*$/.test(data) ? (data as Hex) : undefined
  if (typeof data === 'object' && data !== null && 'data' in data) return hexIn(data.data)
  return undefined
}

/** A contract has answered a call with something else than the words that its function returns. */
export class NotWords extends ReadFailure {
  override readonly name = 'NotWords'
}

/** For calls where a revert means that there is nothing, for example the holder of an account that does not exist. */
export function undefinedOnRevert(error: unknown): undefined {
  if (revertOf(error) === undefined) throw error
}
