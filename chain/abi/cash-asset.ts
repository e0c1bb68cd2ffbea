import { parseAbi } from 'viem'

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
