import { parseAbi } from 'viem'

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
