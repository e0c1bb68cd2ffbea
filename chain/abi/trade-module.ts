import { parseAbi } from 'viem'

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
