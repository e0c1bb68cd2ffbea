// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IMatching, ISubAccounts, ITokenAsset, VerifiedAction} from "./interfaces.sol";
import {BaseModule, OneTimeModule} from "./BaseModule.sol";

/// Pays tokens of an account out to the owner of the action.
contract WithdrawalModule is OneTimeModule {
    struct WithdrawalData {
        address asset;
        /// Token's own units.
        uint256 assetAmount;
    }

    error WM_InvalidFromAccount();
    error WM_InvalidWithdrawalActionLength();

    constructor(IMatching matching_, ISubAccounts subAccounts_) BaseModule(matching_, subAccounts_) {}

    function executeAction(VerifiedAction[] calldata actions, bytes calldata)
        external
        onlyMatching
        returns (uint256[] memory newIds, address[] memory newOwners)
    {
        if (actions.length != 1) revert WM_InvalidWithdrawalActionLength();
        VerifiedAction calldata action = actions[0];
        if (action.subaccountId == 0) revert WM_InvalidFromAccount();
        _useNonce(action.owner, action.nonce);
        WithdrawalData memory data = abi.decode(action.data, (WithdrawalData));
        ITokenAsset(data.asset).withdraw(action.subaccountId, data.assetAmount, action.owner);
        _returnAccounts(actions);
        return (newIds, newOwners);
    }
}
