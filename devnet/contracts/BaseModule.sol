// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IMatching, IModule, ISubAccounts, VerifiedAction} from "./interfaces.sol";

abstract contract BaseModule is IModule {
    /// The only caller of actions.
    IMatching public immutable matching;
    /// The accounts that actions name.
    ISubAccounts public immutable subAccounts;

    error BM_OnlyMatching();

    modifier onlyMatching() {
        if (msg.sender != address(matching)) revert BM_OnlyMatching();
        _;
    }

    constructor(IMatching matching_, ISubAccounts subAccounts_) {
        matching = matching_;
        subAccounts = subAccounts_;
    }

    function _returnAccounts(VerifiedAction[] calldata actions) internal {
        for (uint256 i = 0; i < actions.length; i++) {
            _returnAccount(actions[i].subaccountId);
        }
    }

    function _returnAccount(uint256 accountId) internal {
        if (accountId == 0 || subAccounts.ownerOf(accountId) != address(this)) return;
        subAccounts.transferFrom(address(this), address(matching), accountId);
    }
}

/// A module whose actions run once: the pair (owner, nonce) is spent by the first success.
abstract contract OneTimeModule is BaseModule {
    /// Nonces that an owner's actions have spent.
    mapping(address owner => mapping(uint256 nonce => bool used)) public usedNonces;

    event NonceUsed(address indexed owner, uint256 nonce);

    error BM_NonceAlreadyUsed();

    function _useNonce(address owner, uint256 nonce) internal {
        if (usedNonces[owner][nonce]) revert BM_NonceAlreadyUsed();
        usedNonces[owner][nonce] = true;
        emit NonceUsed(owner, nonce);
    }
}
