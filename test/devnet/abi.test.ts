import { expect } from 'chai'
import {
  parseAbi,
  toEventSignature,
  toFunctionSignature,
  type Abi,
  type AbiEvent,
  type AbiFunction,
} from 'viem'
import {
  batchExecutorAbi,
  cashAssetAbi,
  depositModuleAbi,
  dutchAuctionAbi,
  erc20Abi,
  futureAssetAbi,
  futuresManagerAbi,
  futureTradeModuleAbi,
  managerAbi,
  matchingAbi,
  perpAssetAbi,
  perpManagerAbi,
  subAccountsAbi,
  tradeModuleAbi,
  withdrawalModuleAbi,
  wrappedErc20AssetAbi,
} from '../../chain/abi/contracts.js'
import { errorsAbi } from '../../chain/abi/errors.js'
import {
  compileContracts,
  type Artifacts,
  type ContractName,
} from '../../devnet/chain/compile-contracts.js'

const CASES: readonly (readonly [ContractName, Abi])[] = [
  ['BatchExecutor', batchExecutorAbi],
  ['CashAsset', cashAssetAbi],
  ['DepositModule', depositModuleAbi],
  ['DevUsdc', erc20Abi],
  ['FutureAsset', futureAssetAbi],
  ['FuturesManager', futuresManagerAbi],
  ['FutureTradeModule', futureTradeModuleAbi],
  ['DutchAuction', dutchAuctionAbi],
  ['Matching', matchingAbi],
  ['PerpAsset', perpAssetAbi],
  ['PerpManager', managerAbi],
  ['PerpManager', perpManagerAbi],
  ['StandardManager', managerAbi],
  ['SubAccounts', subAccountsAbi],
  ['TradeModule', tradeModuleAbi],
  ['WithdrawalModule', withdrawalModuleAbi],
  ['WrappedERC20Asset', wrappedErc20AssetAbi],
]

/** Raised by nothing that the venue calls: what the contracts inherit, and of DemoSeeder, which the devnet alone calls. */
const UNREACHABLE: readonly string[] = [
  'AllGiven',
  'AlreadyGiven',
  'FailedCall',
  'InsufficientBalance',
  'InvalidAccountNonce',
  'InvalidShortString',
  'OnlyMinter',
  'StringTooLong',
]

/** A fragment with what it answers or indexes, in one comparable line. */
function line(item: AbiFunction | AbiEvent): string {
  if (item.type === 'event') {
    const indexed = item.inputs.map((input) => (input.indexed === true ? 'indexed' : 'plain'))
    return `event ${toEventSignature(item)} ${indexed.join()}`
  }
  const answers = flatTypes(item.outputs)
  return `function ${toFunctionSignature(item)} returns ${answers.join()}`
}

function flatTypes(parameters: AbiFunction['outputs']): string[] {
  return parameters.flatMap((p) =>
    'components' in p ? [`${p.type}(`, ...flatTypes(p.components), ')'] : [p.type],
  )
}

function lines(abi: Abi): string[] {
  return abi.flatMap((item) =>
    item.type === 'function' || item.type === 'event' ? [line(item)] : [],
  )
}

/** The published surface of the futures, for other programs than this venue as well. */
const FUTURES_SURFACE: readonly (readonly [ContractName, readonly string[]])[] = [
  [
    'FutureAsset',
    [
      'function createSeries(uint64 expiry)',
      'function setMarkKeeper(address keeper)',
      'function setIndexFeed(address feed)',
      'function setTotalPositionCap(address manager, uint256 cap)',
      'function series(uint256 subId) view returns (uint64 lastTradeTime, uint256 mark, uint64 markAt, uint256 settlementPrice, uint8 state)',
      'function band(uint256 subId) view returns (uint256 index, uint256 width, uint256 low, uint256 high, uint8 status)',
      'function updateMark(uint256 subId, uint256 mark)',
      'function recordIndex(uint256 subId)',
      'function settle(uint256 subId)',
      'function setFallbackPrice(uint256 subId, uint256 price)',
      'function fixing(uint256 subId) view returns (uint64 lastAt, uint256 priceSeconds, uint64 covered, uint64 largestGap, bool complete)',
      'function openInterest(uint256 subId) view returns (uint256)',
      'function totalPosition(address manager) view returns (uint256)',
      'function totalPositionCap(address manager) view returns (uint256)',
      'function whitelistedManager(address manager) view returns (bool)',
      'event SeriesCreated(uint256 indexed subId, uint64 lastTradeTime, uint256 mark)',
      'event MarkUpdated(uint256 indexed subId, uint256 mark, uint256 index)',
      'event IndexRecorded(uint256 indexed subId, uint256 price, uint64 at)',
      'event SeriesSettled(uint256 indexed subId, uint256 price, bool isFallback)',
    ],
  ],
  [
    'FuturesManager',
    [
      'function getMargin(uint256 id, bool isInitial) view returns (int256)',
      'function variation(uint256 id) view returns (int256)',
      'function marginRates() view returns (uint256 mm, uint256 im)',
      'function cngnFactors() view returns (uint256 mm, uint256 im)',
      'function poolAccount() view returns (uint256)',
      'function insuranceAccount() view returns (uint256)',
      'function settleVariation(uint256[] ids)',
      'function closeOut(uint256 subId, uint256[] ids)',
      'function liquidate(uint256 id, uint256 subId, uint256 by, uint256 portion) returns (int256 contracts, uint256 bonus)',
      'function cure(uint256 id, uint256 by, uint256 cngnAmount) returns (uint256 cngn, uint256 usdc)',
      'function adjustmentsPaused() view returns (bool)',
      'function guardian() view returns (address)',
      'function setAdjustmentsPaused(bool paused)',
      'event VariationAccrued(uint256 indexed account, uint256 indexed subId, uint256 mark, int256 vm)',
      'event PositionClosed(uint256 indexed account, uint256 indexed subId, int256 contracts, uint256 price, int256 vm)',
    ],
  ],
  [
    'FutureTradeModule',
    [
      'function quoteAsset() view returns (address)',
      'function isPerpAsset(address asset) view returns (bool)',
      'function feeRecipient() view returns (uint256)',
      'function setFeeRecipient(uint256 account)',
      'function filled(address owner, uint256 nonce) view returns (uint256)',
      'function seenNonces(address owner, uint256 nonce) view returns (bytes32)',
      'function matching() view returns (address)',
      'function subAccounts() view returns (address)',
      'event FutureMatched(address asset, uint256 subId, uint256 taker, uint256 maker, bool takerIsBid, uint256 amount, int256 price, uint256 mark, int256 takerVm, int256 makerVm)',
      'event FeeCharged(uint256 acc, uint256 recipient, uint256 takerFee)',
    ],
  ],
]

describe('the ABIs that the venue speaks', () => {
  let artifacts: Artifacts

  before(async function () {
    artifacts = await compileContracts()
  })

  for (const [name, abi] of CASES) {
    it(`${name} has every function and event named for it`, () => {
      expect(lines(artifacts[name].abi)).to.include.members(lines(abi))
    })
  }

  for (const [name, surface] of FUTURES_SURFACE) {
    it(`${name} has every function and event that is published of it`, () => {
      expect(lines(artifacts[name].abi)).to.include.members(lines(parseAbi(surface)))
    })
  }

  it('every error of the contracts can be named', () => {
    const known = new Set<string>([...errorsAbi.map((error) => error.name), ...UNREACHABLE])
    const unknown = Object.values(artifacts)
      .flatMap((artifact) => artifact.abi)
      .flatMap((item) => (item.type === 'error' && !known.has(item.name) ? [item.name] : []))
    expect(unknown).to.deep.equal([])
  })
})
