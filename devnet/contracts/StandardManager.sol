// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {BaseManager} from "./BaseManager.sol";
import {AssetBalance, AssetDelta, ISubAccounts} from "./interfaces.sol";

/// Margin rules of its accounts, without leverage: whitelisted assets only, caps, no cash debt.
contract StandardManager is BaseManager {
    bool public constant borrowingEnabled = false;

    constructor(ISubAccounts subAccounts_, address cashAsset_) BaseManager(subAccounts_, cashAsset_) {}

    function _checkAccount(uint256 accountId, address, AssetDelta[] calldata deltas, AssetBalance[] memory held)
        internal
        view
        override
    {
        int256 cashDelta = _checkDeltas(deltas);
        if (held.length > maxAccountSize) revert SRM_TooManyAssets();
        if (cashDelta < 0 && getMargin(accountId, true) < 0) revert SRM_NoNegativeCash();
    }

    function _checkDeltas(AssetDelta[] calldata deltas) private view returns (int256 cashDelta) {
        for (uint256 i = 0; i < deltas.length; i++) {
            if (deltas[i].asset == cashAsset) cashDelta += deltas[i].delta;
            else if (!details[deltas[i].asset].isWhitelisted) revert SRM_UnsupportedAsset();
        }
    }

    /// No position is marked or counts as collateral, so the margin of an account is its cash.
    function getMargin(uint256 accountId, bool) public view returns (int256 margin) {
        return subAccounts.getBalance(accountId, cashAsset, 0);
    }
}
