// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ISubAccounts} from "../interfaces.sol";
import {ManagedAsset} from "../ManagedAsset.sol";
import {PositionTracking} from "../PositionTracking.sol";
import {FutureSeries} from "./FutureSeries.sol";
import {IFuturesManager, POSITION_STEP} from "./interfaces.sol";

/// Positions in dated futures: signed contracts at 1e18, one sub id per series, positive for a long. The asset holds no
/// money: variation margin is the business of the account's manager, which this asset informs of every change first.
contract FutureAsset is FutureSeries, ManagedAsset, PositionTracking {
    struct Interest {
        uint256 long;
        uint256 short;
    }

    mapping(uint256 subId => Interest) private interest;

    error FA_InvalidAmount();

    constructor(ISubAccounts subAccounts_) ManagedAsset(subAccounts_) {}

    /// Called by SubAccounts before a position changes. Allows whole steps in known series, for accounts of registered
    /// managers; in a settled series only a change to zero. Who may move positions is the manager's decision.
    function handleAdjustment(uint256 accountId, uint256 subId, int256 amount, int256 preBalance, uint256 tradeId)
        external
        onlyAccounts
        returns (int256 postBalance, bool needsAllowance)
    {
        postBalance = preBalance + amount;
        if (_known(subId).settlementPrice != 0 && postBalance != 0) revert FA_AlreadySettled();
        if (amount % int256(POSITION_STEP) != 0) revert FA_InvalidAmount();
        address manager = _knownManager(accountId);
        _track(manager, preBalance, postBalance, tradeId);
        Interest storage open = interest[subId];
        open.long = open.long + _positive(postBalance) - _positive(preBalance);
        open.short = open.short + _positive(-postBalance) - _positive(-preBalance);
        IFuturesManager(manager).onPositionChange(accountId, subId, preBalance, postBalance);
        return (postBalance, true);
    }

    /// Sum of all long positions of a series, in contracts at 1e18. Equal to the sum of the shorts until positions are
    /// closed out after settlement.
    function openInterest(uint256 subId) external view returns (uint256) {
        return interest[subId].long;
    }

    function _totalSize(uint256 subId) internal view override returns (uint256) {
        return interest[subId].long + interest[subId].short;
    }

    function _positive(int256 value) private pure returns (uint256) {
        return value > 0 ? uint256(value) : 0;
    }
}
