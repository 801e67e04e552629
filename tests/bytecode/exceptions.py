"""Raising and handling in all forms."""


def raises(a, b):
    if a == 0:
        raise ValueError
    if a == 1:
        raise ValueError("one", a)
    if a == 2:
        raise ValueError("two") from b
    if a == 3:
        raise KeyError from None
    return a


def try_except(a, i):
    try:
        return a[i]
    except IndexError:
        return -1


def except_types(a, i):
    try:
        x = a[i] / i
    except (IndexError, KeyError) as e:
        x = 0
        raise RuntimeError("again") from e
    except ZeroDivisionError:
        x = 1
    except Exception as e:
        print(e)
        raise
    except:
        x = 2
    else:
        x += 10
    return x


def finally_simple(a):
    try:
        a.append(1)
    finally:
        a.append(2)
    return a


def all_clauses(a, i):
    log = []
    try:
        log.append(a[i])
    except IndexError as e:
        log.append(-1)
    else:
        log.append(0)
    finally:
        log.append(99)
    return log


def return_in_finally(a):
    try:
        return a[0]
    finally:
        return -1


def loop_in_try(a):
    n = 0
    try:
        for x in a:
            try:
                if x == 0:
                    continue
                if x == 1:
                    break
                if x == 2:
                    return n
                n += 10 // x
            finally:
                n += 1
    except ZeroDivisionError:
        n = -n
    return n


def try_in_loop(a):
    n = 0
    i = 0
    while i < 10:
        try:
            n += a[i]
        except IndexError:
            break
        except ValueError:
            continue
        finally:
            i += 1
    return n, i


def break_in_finally(a):
    for x in a:
        try:
            x.go()
        finally:
            if x:
                break
            continue
    return x


def nested(a, b):
    try:
        try:
            return a[b]
        except KeyError:
            raise ValueError("inner")
        finally:
            b = b + 1
    except ValueError as e:
        try:
            return a[b + 1]
        except IndexError as e2:
            raise e2 from e
    finally:
        print(b)


def reraise_bare(a):
    try:
        a.go()
    except ValueError:
        if a:
            raise
        return 0
    return 1


def unbound_after(a):
    try:
        x = a[0]
        y = a[1]
    except IndexError:
        pass
    return x + y


def handler_sees_progress(a):
    i = 0
    try:
        i = 1
        a[0]
        i = 2
        a[1]
        i = 3
    except IndexError:
        return i
    return -i


def with_block(lock, a):
    with lock as token, a:
        if token:
            return a.x
        a.y()
    return 0


def name_gone(a):
    try:
        a()
    except ValueError as e:
        pass
    return e


def exception_value(a):
    err = None
    try:
        a()
    except ValueError as e:
        err = e
    if err is not None:
        raise err
    raise TypeError(f"bad {a}")


def expression_in_try(f, a):
    try:
        r = f(a, f(a + 1) if a else f(2), *a)
    except:
        r = None
    return r
