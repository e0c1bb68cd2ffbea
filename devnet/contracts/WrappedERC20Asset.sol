// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {ISubAccounts} from "./interfaces.sol";
import {PositionTracking} from "./PositionTracking.sol";
import {TokenEscrow} from "./TokenEscrow.sol";

/// A wrapped token. Balances are never negative and capped per manager; credits need consent as well as debits.
contract WrappedERC20Asset is TokenEscrow, PositionTracking {
    /// Decimals of the token; balances have 18.
    uint8 public immutable assetDecimals;

    error WERC_CannotBeNegative();
    error WERC_InvalidSubId();
    error WERC_OnlyAccountOwner();

    constructor(ISubAccounts subAccounts_, IERC20Metadata token_) TokenEscrow(subAccounts_, token_) {
        assetDecimals = token_.decimals();
    }

    /// Called by SubAccounts before a balance changes. Allows no debt and no sub id, for accounts of registered managers.
    function handleAdjustment(uint256 accountId, uint256 subId, int256 amount, int256 preBalance, uint256 tradeId)
        external
        onlyAccounts
        returns (int256 postBalance, bool needsAllowance)
    {
        if (subId != 0) revert WERC_InvalidSubId();
        address manager = _knownManager(accountId);
        postBalance = preBalance + amount;
        if (postBalance < 0) revert WERC_CannotBeNegative();
        if (amount != 0) _track(manager, preBalance, postBalance, tradeId);
        return (postBalance, true);
    }

    function _refuseStranger() internal pure override {
        revert WERC_OnlyAccountOwner();
    }
}
