# --- Signatures --------------------------------------------------------------------------------

# Ed25519 as in RFC 8032; Python's standard library has none. Only verifies, so nothing here is secret.

P = 2 ** 255 - 19
ORDER = 2 ** 252 + 27742317777372353535851937790883648493
CURVE_D = -121665 * pow(121666, P - 2, P) % P
SQRT_MINUS_1 = pow(2, (P - 1) // 4, P)


def add_points(a, b):
    """Points are (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z."""
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * CURVE_D % P, 2 * a[2] * b[2] % P
    e, f, g, h = f - e, h - g, h + g, f + e
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply_point(scalar, point):
    product = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            product = add_points(product, point)
        point = add_points(point, point)
        scalar >>= 1
    return product


def read_point(data):
    """None if it is no point of the curve."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= P:
        return None
    square = (y * y - 1) * pow(CURVE_D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * SQRT_MINUS_1 % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


BASE_POINT = read_point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def verify(public_key, message, signature):
    """True if the signature of the message was made with the key's secret half."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key, nonce = read_point(public_key), read_point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or nonce is None or scalar >= ORDER:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % ORDER
    left, right = multiply_point(scalar, BASE_POINT), add_points(nonce, multiply_point(challenge, key))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0


def is_signed(script, signature):
    """True if the hub that served this file signed the script."""
    try:
        message = b"hub agent\0" + hashlib.sha256(script).digest()
        return bool(SIGNED_BY) and verify(bytes.fromhex(SIGNED_BY), message, bytes.fromhex(signature))
    except (ValueError, TypeError):
        return False


