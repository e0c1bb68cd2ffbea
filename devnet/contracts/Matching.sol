// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {Action, IModule, ISubAccounts, VerifiedAction} from "./interfaces.sol";
import {ActionVerifier} from "./ActionVerifier.sol";
import {SubAccountCustody} from "./SubAccountCustody.sol";

/// Entry point of every signed action: verifies all actions, transfers their accounts to one module for the call, and
/// takes the accounts back.
contract Matching is SubAccountCustody, ActionVerifier, Ownable, ReentrancyGuard {
    mapping(address tradeExecutor => bool canExecuteTrades) public tradeExecutors;
    mapping(address module => bool) public allowedModules;

    event TradeExecutorSet(address indexed executor, bool canExecute);
    event ModuleAllowed(address indexed module, bool allowed);

    error M_AccountAlreadyExists();
    error M_AccountNotReturned();
    error M_ArrayLengthMismatch();
    error M_MismatchedModule();
    error M_OnlyAllowedModule();
    error M_OnlyTradeExecutor();

    constructor(ISubAccounts subAccounts_) SubAccountCustody(subAccounts_) Ownable(msg.sender) {}

    function setTradeExecutor(address tradeExecutor, bool canExecute) external onlyOwner {
        tradeExecutors[tradeExecutor] = canExecute;
        emit TradeExecutorSet(tradeExecutor, canExecute);
    }

    function setAllowedModule(address module, bool allowed) external onlyOwner {
        allowedModules[module] = allowed;
        emit ModuleAllowed(module, allowed);
    }

    function verifyAndMatch(Action[] calldata actions, bytes[] calldata signatures, bytes calldata actionData)
        external
        nonReentrant
    {
        if (!tradeExecutors[msg.sender]) revert M_OnlyTradeExecutor();
        address module = actions[0].module;
        if (!allowedModules[module]) revert M_OnlyAllowedModule();
        if (actions.length != signatures.length) revert M_ArrayLengthMismatch();

        VerifiedAction[] memory verified = new VerifiedAction[](actions.length);
        for (uint256 i = 0; i < actions.length; i++) {
            Action calldata action = actions[i];
            if (action.module != module) revert M_MismatchedModule();
            _verifyAction(action, signatures[i], subAccountToOwner[action.subaccountId]);
            _lend(action.subaccountId, module);
            verified[i] = VerifiedAction(action.subaccountId, action.owner, module, action.data, action.nonce);
        }

        (uint256[] memory newIds, address[] memory newOwners) = IModule(module).executeAction(verified, actionData);
        for (uint256 i = 0; i < actions.length; i++) {
            if (actions[i].subaccountId != 0) _checkReturned(actions[i].subaccountId);
        }
        for (uint256 i = 0; i < newIds.length; i++) {
            if (subAccountToOwner[newIds[i]] != address(0)) revert M_AccountAlreadyExists();
            _checkReturned(newIds[i]);
            _recordOwner(newIds[i], newOwners[i]);
        }
    }

    /// Id 0 requests a new account; one account may appear in several actions of a call.
    function _lend(uint256 accountId, address module) private {
        if (accountId == 0 || subAccounts.ownerOf(accountId) == module) return;
        subAccounts.transferFrom(address(this), module, accountId);
    }

    function _checkReturned(uint256 accountId) private view {
        if (subAccounts.ownerOf(accountId) != address(this)) revert M_AccountNotReturned();
    }
}
