// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {BaseModule, OneTimeModule} from "../BaseModule.sol";
import {IMatching, ISubAccounts, VerifiedAction} from "../interfaces.sol";
import {IFutureAsset, IFuturesManager} from "./interfaces.sol";

/// Takes over positions of an account below maintenance margin for the owner of the action, whose account Matching
/// holds. The signature is the consent; FuturesManager.liquidate states and checks everything else.
contract FutureLiquidationModule is OneTimeModule {
    struct FutureLiquidationData {
        /// The account to liquidate.
        uint256 accountId;
        uint256 subId;
        /// Share of its position, 1e18 = all.
        uint256 portion;
        /// The highest index at which a long is taken over, the lowest for a short, in cNGN per USDC at 1e18.
        uint256 worstPrice;
    }

    /// States the index at which a position is taken over.
    IFutureAsset public immutable futureAsset;
    /// Judges both accounts and moves the position.
    IFuturesManager public immutable manager;

    error FL_InvalidActionLength();
    error FL_InvalidFromAccount();
    error FL_PriceBeyondLimit();

    constructor(
        IMatching matching_,
        ISubAccounts subAccounts_,
        IFutureAsset futureAsset_,
        IFuturesManager manager_
    ) BaseModule(matching_, subAccounts_) {
        futureAsset = futureAsset_;
        manager = manager_;
    }

    /// One action: the account that takes over is the one that the action names. The pair (owner, nonce) is spent by the
    /// first success. The index that the position is taken at must not be worse than signed. Called by Matching only.
    function executeAction(VerifiedAction[] calldata actions, bytes calldata)
        external
        onlyMatching
        returns (uint256[] memory newIds, address[] memory newOwners)
    {
        if (actions.length != 1) revert FL_InvalidActionLength();
        VerifiedAction calldata action = actions[0];
        if (action.subaccountId == 0) revert FL_InvalidFromAccount();
        _useNonce(action.owner, action.nonce);
        FutureLiquidationData memory data = abi.decode(action.data, (FutureLiquidationData));
        (int256 contracts,) = manager.liquidate(data.accountId, data.subId, action.subaccountId, data.portion);
        uint256 price = futureAsset.getIndexPrice();
        if (contracts > 0 ? price > data.worstPrice : price < data.worstPrice) revert FL_PriceBeyondLimit();
        _returnAccounts(actions);
        return (newIds, newOwners);
    }
}
