import { parseAbi, parseAbiParameters } from 'viem'

/** Functions and events of Matching, which verifies signed actions and holds the accounts that trade. */
export const matchingAbi = parseAbi([
  'struct Action { uint256 subaccountId; uint256 nonce; address module; bytes data; uint256 expiry; address owner; address signer; }',
  'function verifyAndMatch(Action[] actions, bytes[] signatures, bytes actionData)',
  'function tradeExecutors(address tradeExecutor) view returns (bool canExecuteTrades)',
  'function allowedModules(address module) view returns (bool)',
  'function setTradeExecutor(address tradeExecutor, bool canExecute)',
  'function setAllowedModule(address module, bool allowed)',
  'function subAccounts() view returns (address)',
  'function subAccountToOwner(uint256) view returns (address)',
  'function withdrawTimestamp(uint256) view returns (uint256)',
  'function WITHDRAW_COOLDOWN() view returns (uint256)',
  'function sessionKeys(address signer, address owner) view returns (uint256)',
  'function registerSessionKey(address sessionKey, uint256 expiry)',
  'function deregisterSessionKey(address sessionKey)',
  'function DEREGISTER_KEY_COOLDOWN() view returns (uint256)',
  'function ACTION_TYPEHASH() view returns (bytes32)',
  'function domainSeparator() view returns (bytes32)',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'function getActionHash(Action action) pure returns (bytes32)',
  'function createSubAccount(address manager) returns (uint256 accountId)',
  'function depositSubAccount(uint256 accountId)',
  'function depositSubAccountFor(uint256 accountId, address recipient)',
  'function requestWithdrawAccount(uint256 accountId)',
  'function completeWithdrawAccount(uint256 accountId)',
  'function owner() view returns (address)',
  'event TradeExecutorSet(address indexed executor, bool canExecute)',
  'event ModuleAllowed(address indexed module, bool allowed)',
  'event DepositedSubAccount(uint256 indexed accountId, address indexed owner)',
  'event WithdrewSubAccount(uint256 indexed accountId)',
  'event WithdrawAccountCooldown(uint256 indexed accountId, address user)',
  'event SessionKeyRegistered(address owner, address sessionKey, uint256 expiry)',
  'event SessionKeyCooldown(address owner, address sessionKeyPublicAddress)',
])

/** Functions and events of SubAccounts; every balance is signed and at 1e18. */
export const subAccountsAbi = parseAbi([
  'struct AssetBalance { address asset; uint256 subId; int256 balance; }',
  'struct AssetAllowance { address asset; uint256 positive; uint256 negative; }',
  'struct AssetTransfer { uint256 fromAcc; uint256 toAcc; address asset; uint256 subId; int256 amount; bytes32 assetData; }',
  'function lastAccountId() view returns (uint256)',
  'function lastTradeId() view returns (uint256)',
  'function manager(uint256 accountId) view returns (address)',
  'function ownerOf(uint256 tokenId) view returns (address)',
  'function getApproved(uint256 tokenId) view returns (address)',
  'function approve(address to, uint256 tokenId)',
  'function setApprovalForAll(address operator, bool approved)',
  'function transferFrom(address from, address to, uint256 tokenId)',
  'function getBalance(uint256 accountId, address asset, uint256 subId) view returns (int256 balance)',
  'function balanceAndOrder(uint256 accountId, address asset, uint256 subId) view returns (int240 balance, uint16 order)',
  'function getAccountBalances(uint256 accountId) view returns (AssetBalance[] assetBalances)',
  'function getUniqueAssets(uint256 accountId) view returns (address[] uniqueAssets)',
  'function heldAssets(uint256 accountId, uint256) view returns (address asset, uint96 subId)',
  'function lastAccountTradeId(uint256 accountId) view returns (uint256 tradeId)',
  'function createAccount(address owner, address _manager) returns (uint256 newId)',
  'function setAssetAllowances(uint256 accountId, address delegate, AssetAllowance[] allowances)',
  'function positiveAssetAllowance(uint256 accountId, address owner, address asset, address delegate) view returns (uint256)',
  'function submitTransfer(AssetTransfer assetTransfer, bytes managerData) returns (uint256 tradeId)',
  'function submitTransfers(AssetTransfer[] assetTransfers, bytes managerData) returns (uint256 tradeId)',
  'event AccountCreated(address indexed owner, uint256 indexed accountId, address indexed manager)',
  'event AssetTransferred(uint256 indexed fromAcc, uint256 indexed toAcc, address asset, uint256 subId, int256 amount, bytes32 assetData, uint256 tradeId)',
  'event BalanceAdjusted(uint256 indexed accountId, address indexed manager, bytes32 indexed assetAndSubId, int256 amount, int256 preBalance, int256 postBalance, uint256 tradeId)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
])

/** Functions and events of a TradeModule; prices, amounts and fees at 1e18. */
export const tradeModuleAbi = parseAbi([
  'function quoteAsset() view returns (address)',
  'function isPerpAsset(address) view returns (bool)',
  'function feeRecipient() view returns (uint256)',
  'function filled(address owner, uint256 nonce) view returns (uint256 filled)',
  'function seenNonces(address owner, uint256 nonce) view returns (bytes32 hash)',
  'function matching() view returns (address)',
  'function subAccounts() view returns (address)',
  'function setFeeRecipient(uint256 _feeRecipient)',
  'function setPerpAsset(address _perpAsset, bool isPerp)',
  'event OrderMatched(address base, uint256 taker, uint256 maker, bool takerIsBid, int256 amtQuote, uint256 amtBase)',
  'event FeeCharged(uint256 acc, uint256 recipient, uint256 takerFee)',
])

/** Functions and events of a margin manager that need neither feeds nor perps. */
export const managerAbi = parseAbi([
  'struct AssetDetail { bool isWhitelisted; uint8 assetType; uint256 marketId; }',
  'function getMargin(uint256 accountId, bool isInitial) view returns (int256 margin)',
  'function assetDetails(address asset) view returns (AssetDetail)',
  'function assetMap(uint256 marketId, uint8 assetType) view returns (address)',
  'function lastMarketId() view returns (uint256)',
  'function borrowingEnabled() view returns (bool)',
  'function adjustmentsPaused() view returns (bool)',
  'function guardian() view returns (address)',
  'function setAdjustmentsPaused(bool _paused)',
  'function maxAccountSize() view returns (uint256)',
  'function cashAsset() view returns (address)',
  'function createMarket(string _marketName) returns (uint256 marketId)',
  'function whitelistAsset(address _asset, uint256 _marketId, uint8 _type)',
  'function setWhitelistedCallee(address callee, bool whitelisted)',
  'function setGuardian(address _guardian)',
  'event AdjustmentsPausedSet(bool paused)',
  'event AssetWhitelisted(address asset, uint256 marketId, uint8 assetType)',
  'event MarketCreated(uint256 marketId, string marketName)',
  'event GuardianSet(address guardian)',
])

/** Functions and events of the PerpAsset; prices, sizes and rates at 1e18, sizes and cash signed. */
export const perpAssetAbi = parseAbi([
  'function getIndexPrice() view returns (uint256 price, uint256 confidence)',
  'function getPerpPrice() view returns (uint256 price, uint256 confidence)',
  'function getImpactPrices() view returns (uint256 bid, uint256 ask)',
  'function getFundingRate() view returns (int256 fundingRate)',
  'function getUnsettledAndUnrealizedCash(uint256 accountId) view returns (int256 totalCash)',
  'function positions(uint256 accountId) view returns (uint256 lastMarkPrice, int256 funding, int256 pnl, int256 lastAggregatedFunding, uint256 lastFundingPaid)',
  'function aggregatedFunding() view returns (int256)',
  'function lastFundingPaidAt() view returns (uint256)',
  'function maxRatePerHour() view returns (int256)',
  'function minRatePerHour() view returns (int256)',
  'function fundingConvergencePeriod() view returns (int256)',
  'function staticInterestRate() view returns (int256)',
  'function openInterest(uint256 subId) view returns (uint256)',
  'function totalPosition(address manager) view returns (uint256)',
  'function totalPositionCap(address manager) view returns (uint256)',
  'function isDisabled() view returns (bool)',
  'function frozenPerpPrice() view returns (int256)',
  'function spotFeed() view returns (address)',
  'function perpFeed() view returns (address)',
  'function impactAskPriceFeed() view returns (address)',
  'function impactBidPriceFeed() view returns (address)',
  'function whitelistedManager(address manager) view returns (bool)',
  'function realizeAccountPNL(uint256 accountId)',
  'event AggregatedFundingUpdated(int256 aggregatedFundingRate, int256 fundingRate, uint256 lastFundingPaidAt)',
  'event FundingAppliedOnAccount(uint256 accountId, int256 funding, int256 aggregatedFundingRate)',
  'event PositionSettled(uint256 indexed account, int256 pnlChange, int256 totalPnl, uint256 perpPrice)',
  'event PositionCleared(uint256 indexed account)',
  'event RateBoundsUpdated(int256 maxAbsRatePerHour)',
  'event ConvergencePeriodUpdated(int256 fundingConvergencePeriod)',
  'event StaticUnderlyingInterestRateUpdated(int256 premium)',
  'event Disabled(int256 indexPrice, int256 aggregatedFunding)',
  'event TotalPositionCapSet(address manager, uint256 oiCap)',
])

/**
 * Functions and events of a manager of perpetuals, beyond those of every manager; margin in US dollars and rates at
 * 1e18. Types of assets: 2 perpetual, 3 base.
 */
export const perpManagerAbi = parseAbi([
  'function getMarginAndMarkToMarket(uint256 accountId, bool isInitial, uint256 scenarioId) view returns (int256 margin, int256 markToMarket)',
  'function perpMarginRequirements(uint256 marketId) view returns (uint256 mmPerpReq, uint256 imPerpReq)',
  'function baseMarginParams(uint256 marketId) view returns (uint256 marginFactor, uint256 IMScale)',
  'function oracleContingencyParams(uint256 marketId) view returns (uint256 perpThreshold, uint256 optionThreshold, uint256 baseThreshold, uint256 OCFactor)',
  'function depegParams() view returns (uint256 threshold, uint256 depegFactor)',
  'function getMarketFeeds(uint256 marketId) view returns (address spotFeed, address forwardFeed, address volFeed)',
  'function stableFeed() view returns (address)',
  'function liquidation() view returns (address)',
  'function trustedRiskAssessor(address caller) view returns (bool)',
  'function settlePerpsWithIndex(uint256 accountId)',
  'event PerpSettled(uint256 indexed accountId, address perp, int256 pnl, int256 funding)',
  'event PerpMarginRequirementsSet(uint256 marketId, uint256 perpMMRequirement, uint256 perpIMRequirement)',
  'event BaseMarginParamsSet(uint256 marketId, uint256 baseAssetMarginFactor, uint256 baseAssetIMScale)',
  'event OraclesSet(uint256 marketId, address spotOracle, address forwardOracle, address volFeed)',
  'event BorrowingEnabled(bool borrowingEnabled)',
])

/** Reads of a price feed; `getSpot` reverts with BLF_DataTooOld while its price is stale. */
export const spotFeedAbi = parseAbi([
  'function getSpot() view returns (uint256 price, uint256 confidence)',
  'function spotDetail() view returns (uint96 price, uint64 confidence, uint64 timestamp)',
])

/** Reads, calls of any caller and events of the DutchAuction, which freezes the accounts that it sells; cash at 1e18. */
export const dutchAuctionAbi = parseAbi([
  'struct Auction { uint256 accountId; uint256 scenarioId; bool insolvent; bool ongoing; uint256 cachedMM; uint256 startTime; uint256 reservedCash; }',
  'function startAuction(uint256 accountId, uint256 scenarioId)',
  'function convertToInsolventAuction(uint256 accountId)',
  'function terminateAuction(uint256 accountId)',
  'function bid(uint256 accountId, uint256 bidderId, uint256 percentOfAccount, int256 priceLimit, uint256 expectedLastTradeId) returns (uint256 finalPercentage, uint256 cashFromBidder, uint256 cashToBidder)',
  'function getAuction(uint256 accountId) view returns (Auction)',
  'function getAuctionStatus(uint256 accountId) view returns (bool canTerminate, int256 markToMarket, int256 maintenanceMargin, int256 bufferMargin)',
  'function getCurrentBidPrice(uint256 accountId) view returns (int256)',
  'function isAuctionLive(uint256 accountId) view returns (bool)',
  'function getIsWithdrawBlocked() view returns (bool)',
  'event SolventAuctionStarted(uint256 accountId, uint256 scenarioId, int256 markToMarket, uint256 fee)',
  'event InsolventAuctionStarted(uint256 accountId, uint256 scenarioId, int256 maintenanceMargin)',
  'event AuctionEnded(uint256 accountId, uint256 endTime)',
  'event Bid(uint256 accountId, uint256 bidderId, uint256 finalPercentage, uint256 cashFromBidder, uint256 cashToBidder)',
])

/** Functions and events of the CashAsset; deposits and withdrawals in native token units. */
export const cashAssetAbi = parseAbi([
  'function wrappedAsset() view returns (address)',
  'function deposit(uint256 recipientAccount, uint256 stableAmount)',
  'function depositToNewAccount(address recipient, uint256 stableAmount, address manager) returns (uint256 newAccountId)',
  'function withdraw(uint256 accountId, uint256 stableAmount, address recipient)',
  'function totalSupply() view returns (uint256)',
  'function totalBorrow() view returns (uint256)',
  'function netSettledCash() view returns (int256)',
  'function accruedSmFees() view returns (uint256)',
  'function borrowIndex() view returns (uint256)',
  'function supplyIndex() view returns (uint256)',
  'function lastTimestamp() view returns (uint256)',
  'function temporaryWithdrawFeeEnabled() view returns (bool)',
  'function getCashToStableExchangeRate() view returns (uint256)',
  'function calculateBalanceWithInterest(uint256 accountId) returns (int256 balance)',
  'function liquidationModule() view returns (address)',
  'function whitelistedManager(address) view returns (bool)',
  'event Deposit(uint256 indexed accountId, address indexed depositor, uint256 amountAssetMinted, uint256 wrappedAssetDeposited)',
  'event Withdraw(uint256 indexed accountId, address indexed recipient, uint256 amountAssetBurn, uint256 wrappedAssetWithdrawn)',
  'event WhitelistManagerSet(address _manager, bool _whitelisted)',
  'function setWhitelistManager(address _manager, bool _whitelisted)',
])

/** Functions and events of a WrappedERC20Asset; deposits and withdrawals in native token units, caps at 1e18. */
export const wrappedErc20AssetAbi = parseAbi([
  'function wrappedAsset() view returns (address)',
  'function assetDecimals() view returns (uint8)',
  'function deposit(uint256 recipientAccount, uint256 assetAmount)',
  'function withdraw(uint256 accountId, uint256 assetAmount, address recipient)',
  'function whitelistedManager(address) view returns (bool)',
  'function totalPosition(address manager) view returns (uint256)',
  'function totalPositionCap(address) view returns (uint256)',
  'function setTotalPositionCap(address manager, uint256 cap)',
  'function setWhitelistManager(address _manager, bool _whitelisted)',
  'event Deposit(uint256 indexed accountId, address indexed depositor, uint256 amountAssetMinted, uint256 wrappedAssetDeposited)',
  'event Withdraw(uint256 indexed accountId, address indexed recipient, uint256 amountAssetBurn, uint256 wrappedAssetWithdrawn)',
  'event TotalPositionCapSet(address manager, uint256 oiCap)',
  'event WhitelistManagerSet(address _manager, bool _whitelisted)',
])

/** Functions and events of FutureAsset: the series of dated futures, prices in cNGN per USDC at 1e18. */
export const futureAssetAbi = parseAbi([
  'function series(uint256 subId) view returns (uint64 lastTradeTime, uint256 mark, uint64 markAt, uint256 settlementPrice, uint8 state)',
  'function getIndexPrice() view returns (uint256 price)',
  'function indexDetail() view returns (uint256 price, uint256 confidence, bool isFresh)',
  'function seriesCreator() view returns (address)',
  'function markKeeper() view returns (address)',
  'function setMarkKeeper(address keeper)',
  'function setSeriesCreator(address creator)',
  'function indexFeed() view returns (address)',
  'function band(uint256 subId) view returns (uint256 index, uint256 width, uint256 low, uint256 high, uint8 status)',
  'function fixing(uint256 subId) view returns (uint64 lastAt, uint256 priceSeconds, uint64 covered, uint64 largestGap, bool complete)',
  'function openSeries() view returns (uint256[] subIds)',
  'function openInterest(uint256 subId) view returns (uint256)',
  'function totalPosition(address manager) view returns (uint256)',
  'function totalPositionCap(address manager) view returns (uint256)',
  'function whitelistedManager(address manager) view returns (bool)',
  'function createSeries(uint64 expiry)',
  'function updateMark(uint256 subId, uint256 mark)',
  'function recordIndex(uint256 subId)',
  'function settle(uint256 subId)',
  'function setFallbackPrice(uint256 subId, uint256 price)',
  'function retireSeries(uint256 subId)',
  'event SeriesCreated(uint256 indexed subId, uint64 lastTradeTime, uint256 mark)',
  'event MarkUpdated(uint256 indexed subId, uint256 mark, uint256 index)',
  'event IndexRecorded(uint256 indexed subId, uint256 price, uint64 at)',
  'event SeriesSettled(uint256 indexed subId, uint256 price, bool isFallback)',
])

/** Functions and events of FuturesManager besides those of every manager; margin in USD, variation margin in cNGN, at 1e18. */
export const futuresManagerAbi = parseAbi([
  'function getMargin(uint256 accountId, bool isInitial) view returns (int256 margin)',
  'function variation(uint256 accountId) view returns (int256 cngn)',
  'function marginRates() view returns (uint256 mm, uint256 im)',
  'function cngnFactors() view returns (uint256 mm, uint256 im)',
  'function futureAsset() view returns (address)',
  'function wrappedUsdc() view returns (address)',
  'function wrappedCngn() view returns (address)',
  'function pool() view returns (uint256)',
  'function poolAccount() view returns (uint256)',
  'function insuranceAccount() view returns (uint256)',
  'function settleVariation(uint256[] accountIds)',
  'function accrueAtIndex()',
  'function closeOut(uint256 subId, uint256[] ids)',
  'function liquidate(uint256 id, uint256 subId, uint256 by, uint256 portion) returns (int256 contracts, uint256 bonus)',
  'function cure(uint256 id, uint256 by, uint256 cngnAmount) returns (uint256 cngn, uint256 usdc)',
  'function coverLoss(uint256 id)',
  'event VariationAccrued(uint256 indexed account, uint256 indexed subId, uint256 mark, int256 vm)',
  'event VariationPaid(uint256 indexed account, int256 amount)',
  'event PositionClosed(uint256 indexed account, uint256 indexed subId, int256 contracts, uint256 price, int256 vm)',
  'event PositionLiquidated(uint256 indexed account, uint256 indexed subId, uint256 indexed by, int256 contracts, uint256 price, uint256 bonus)',
  'event DebtCured(uint256 indexed account, uint256 indexed by, uint256 cngn, uint256 usdc)',
  'event AccruedAtIndex(uint256 indexed subId, uint256 index)',
  'event LossShared(uint256 indexed account, uint256 fromInsurance, uint256 fromClaims)',
])

/** What FutureTradeModule has besides the functions and events of TradeModule. */
export const futureTradeModuleAbi = parseAbi([
  'function futureAsset() view returns (address)',
  'function manager() view returns (address)',
  'event FutureMatched(address asset, uint256 subId, uint256 taker, uint256 maker, bool takerIsBid, uint256 amount, int256 price, uint256 mark, int256 takerVm, int256 makerVm)',
])

/** Functions and events of the DepositModule. */
export const depositModuleAbi = parseAbi([
  'function usedNonces(address owner, uint256 nonce) view returns (bool used)',
  'function matching() view returns (address)',
  'function subAccounts() view returns (address)',
  'event NonceUsed(address indexed owner, uint256 nonce)',
])

/** Functions and events of the WithdrawalModule. */
export const withdrawalModuleAbi = parseAbi([
  'function usedNonces(address owner, uint256 nonce) view returns (bool used)',
  'function matching() view returns (address)',
  'function subAccounts() view returns (address)',
  'event NonceUsed(address indexed owner, uint256 nonce)',
])

/** Functions and events of BatchExecutor, which tries many matches in one transaction, each by itself. */
export const batchExecutorAbi = parseAbi([
  'struct Match { uint256 gasLimit; bytes call; }',
  'struct Result { uint8 outcome; uint256 gasUsed; bytes revertData; }',
  'function tryAll(Match[] matches) returns (Result[] results)',
  'function matching() view returns (address)',
  'function operators(address operator) view returns (bool)',
  'function setOperator(address operator, bool allowed)',
  'function owner() view returns (address)',
  'function transferOwnership(address newOwner)',
  'event OperatorSet(address indexed operator, bool allowed)',
  'event MatchTried(bytes32 indexed key, uint8 outcome, uint256 gasUsed, bytes revertData)',
])

/** An ERC-20 token with EIP-2612 permit. */
export const erc20Abi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
  'function nonces(address owner) view returns (uint256)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
])

/** `actionData` of a match: one fill per maker in the order of the actions, fees as totals in quote at 1e18. */
export const ORDER_DATA = parseAbiParameters([
  'OrderData data',
  'struct OrderData { uint256 takerAccount; uint256 takerFee; FillDetails[] fillDetails; bytes managerData; }',
  'struct FillDetails { uint256 filledAccount; uint256 amountFilled; int256 price; uint256 fee; }',
])
