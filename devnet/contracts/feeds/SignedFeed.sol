// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {IDataReceiver} from "../interfaces.sol";

/// Accepts data that enough registered signers signed, from any sender. Data is stale once it is older than the heartbeat.
abstract contract SignedFeed is IDataReceiver, EIP712, Ownable {
    struct FeedData {
        bytes data;
        /// Last second at which the data is accepted.
        uint256 deadline;
        /// Second at which the data was signed.
        uint64 timestamp;
        address[] signers;
        bytes[] signatures;
    }

    /// The signed struct of EIP-712.
    bytes32 public constant FEED_DATA_TYPEHASH =
        keccak256("FeedData(bytes data,uint256 deadline,uint64 timestamp)");

    /// Seconds after which data is stale; 0 until it is set.
    uint64 public heartbeat;
    /// How many signers must have signed; each counts once.
    uint8 public requiredSigners = 1;
    /// Accounts whose signature counts.
    mapping(address signer => bool) public isSigner;

    event SignerUpdated(address indexed signer, bool isWhitelisted);
    event HeartbeatUpdated(address indexed signer, uint256 heartbeat);
    event RequiredSignersUpdated(uint256 requiredSigners);

    error BLF_DataExpired();
    error BLF_DataTooOld();
    error BLF_DuplicatedSigner();
    error BLF_InvalidRequiredSigners();
    error BLF_InvalidSignature();
    error BLF_InvalidSigner();
    error BLF_InvalidTimestamp();
    error BLF_NotEnoughSigners();
    error BLF_SignatureSignersLengthMismatch();

    constructor(string memory domainName) EIP712(domainName, "1") Ownable(msg.sender) {}

    /// Registers or removes a signer; the owner only, as all settings. Data that it has signed before is accepted no more.
    function addSigner(address signer, bool isWhitelisted) external onlyOwner {
        isSigner[signer] = isWhitelisted;
        emit SignerUpdated(signer, isWhitelisted);
    }

    /// Sets the age in seconds from which data is stale.
    function setHeartbeat(uint64 newHeartbeat) external onlyOwner {
        heartbeat = newHeartbeat;
        emit HeartbeatUpdated(msg.sender, newHeartbeat);
    }

    /// Sets how many signatures data needs, at least one.
    function setRequiredSigners(uint8 newRequiredSigners) external onlyOwner {
        if (newRequiredSigners == 0) revert BLF_InvalidRequiredSigners();
        requiredSigners = newRequiredSigners;
        emit RequiredSignersUpdated(newRequiredSigners);
    }

    /// Of the EIP-712 domain in which data is signed.
    function domainSeparator() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    /// Takes signed data, abi.encode(FeedData), from any sender. Reverts when signatures or times are wrong; data that is not
    /// newer than what is stored changes nothing.
    function acceptData(bytes calldata data) external {
        FeedData memory signed = abi.decode(data, (FeedData));
        _verify(signed);
        _accept(signed.data, signed.timestamp);
    }

    /// Stores verified data that is newer than what is stored; ignores older data silently.
    function _accept(bytes memory data, uint64 timestamp) internal virtual;

    function _checkFresh(uint64 timestamp) internal view {
        if (uint256(timestamp) + heartbeat < block.timestamp) revert BLF_DataTooOld();
    }

    function _verify(FeedData memory signed) private view {
        uint256 count = signed.signers.length;
        if (count != signed.signatures.length) revert BLF_SignatureSignersLengthMismatch();
        if (count < requiredSigners) revert BLF_NotEnoughSigners();
        if (signed.timestamp > block.timestamp) revert BLF_InvalidTimestamp();
        if (signed.deadline < block.timestamp) revert BLF_DataExpired();
        bytes32 digest = _hashTypedDataV4(
            keccak256(
                abi.encode(FEED_DATA_TYPEHASH, keccak256(signed.data), signed.deadline, signed.timestamp)
            )
        );
        for (uint256 i = 0; i < count; i++) {
            address signer = signed.signers[i];
            if (!SignatureChecker.isValidSignatureNow(signer, digest, signed.signatures[i])) {
                revert BLF_InvalidSignature();
            }
            if (!isSigner[signer]) revert BLF_InvalidSigner();
            for (uint256 j = 0; j < i; j++) {
                if (signed.signers[j] == signer) revert BLF_DuplicatedSigner();
            }
        }
    }
}
