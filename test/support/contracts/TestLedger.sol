// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {AssetBalance, AssetDelta, ISubAccounts} from "devnet/contracts/interfaces.sol";
import {IFutureAsset} from "devnet/contracts/futures/interfaces.sol";
import {VariationLedger} from "devnet/contracts/futures/VariationLedger.sol";

/// The ledgers by themselves: any caller credits them and shares losses, in whatever amounts.
contract TestLedger is VariationLedger {
    error NotTested();

    constructor(ISubAccounts subAccounts_, IFutureAsset futureAsset_)
        VariationLedger(subAccounts_, futureAsset_, address(0), address(0))
    {}

    function credit(uint256 accountId, int256 amount) external {
        _credit(accountId, amount);
    }

    function shareLoss(uint256 accountId, uint256 loss) external {
        _shareLoss(accountId, loss, 0);
    }

    function ledgerOf(uint256 accountId) external view returns (int256) {
        return _ledgerOf(accountId);
    }

    function recordFill(uint256, uint256, uint256, uint256, int256) external pure returns (uint256, int256) {
        revert NotTested();
    }

    function liquidate(uint256, uint256, uint256, uint256) external pure returns (int256, uint256) {
        revert NotTested();
    }

    function _checkAccount(uint256, address, AssetDelta[] calldata, AssetBalance[] memory)
        internal
        pure
        override
    {
        revert NotTested();
    }
}
