// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {Action} from "./interfaces.sol";

/// Decides whether an action was authorised: by its owner, or by a session key that the owner registered.
abstract contract ActionVerifier is EIP712 {
    uint256 public constant DEREGISTER_KEY_COOLDOWN = 10 minutes;
    bytes32 public constant ACTION_TYPEHASH = keccak256(
        "Action(uint256 subaccountId,uint256 nonce,address module,bytes data,uint256 expiry,address owner,address signer)"
    );

    /// Last second at which the key may sign for the owner.
    mapping(address signer => mapping(address owner => uint256 expiry)) public sessionKeys;

    event SessionKeyRegistered(address owner, address sessionKey, uint256 expiry);
    event SessionKeyCooldown(address owner, address sessionKeyPublicAddress);

    error OV_ActionExpired();
    error OV_InvalidActionOwner();
    error OV_InvalidSignature();
    error OV_NeedDeregister();
    error OV_SessionKeyInvalid();
    error OV_SignerNotOwnerOrSessionKeyExpired();

    constructor() EIP712("Matching", "1.0") {}

    function registerSessionKey(address sessionKey, uint256 expiry) external {
        if (expiry < sessionKeys[sessionKey][msg.sender]) revert OV_NeedDeregister();
        sessionKeys[sessionKey][msg.sender] = expiry;
        emit SessionKeyRegistered(msg.sender, sessionKey, expiry);
    }

    /// The key stays valid for the cooldown, so that orders being matched now do not fail.
    function deregisterSessionKey(address sessionKey) external {
        if (sessionKeys[sessionKey][msg.sender] < block.timestamp) revert OV_SessionKeyInvalid();
        sessionKeys[sessionKey][msg.sender] = block.timestamp + DEREGISTER_KEY_COOLDOWN;
        emit SessionKeyCooldown(msg.sender, sessionKey);
    }

    function domainSeparator() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    /// The EIP-712 struct hash, not the digest.
    function getActionHash(Action calldata action) public pure returns (bytes32) {
        return keccak256(
            abi.encode(
                ACTION_TYPEHASH,
                action.subaccountId,
                action.nonce,
                action.module,
                keccak256(action.data),
                action.expiry,
                action.owner,
                action.signer
            )
        );
    }

    /// An account without a recorded owner may be claimed by any action's owner.
    function _verifyAction(Action calldata action, bytes calldata signature, address recordedOwner) internal view {
        if (block.timestamp > action.expiry) revert OV_ActionExpired();
        if (recordedOwner != address(0) && recordedOwner != action.owner) revert OV_InvalidActionOwner();
        if (action.signer != action.owner && sessionKeys[action.signer][action.owner] < block.timestamp) {
            revert OV_SignerNotOwnerOrSessionKeyExpired();
        }
        bytes32 digest = _hashTypedDataV4(getActionHash(action));
        if (!SignatureChecker.isValidSignatureNowCalldata(action.signer, digest, signature)) {
            revert OV_InvalidSignature();
        }
    }
}
