const ADDRESSES = [
  ...['matching', 'sub_accounts', 'spot_trade_module', 'spot_manager', 'deposit_module'],
  ...['withdrawal_module', 'usdc', 'cngn', 'wrapped_usdc', 'wrapped_cngn', 'cash_asset'],
]

/** The keys that a deployment file must have, with addresses that differ from each other and where nothing is. */
export const deploymentFile = (chainId: number): Readonly<Record<string, string | number>> => ({
  chain_id: chainId,
  ...Object.fromEntries(ADDRESSES.map((name, i) => [name, `0x${`${i + 10}`.repeat(20)}`] as const)),
})
