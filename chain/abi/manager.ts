import { parseAbi } from 'viem'

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
