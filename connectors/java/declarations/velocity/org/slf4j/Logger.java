// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package org.slf4j;

public interface Logger {
    void info(String line);

    void warn(String line);

    void error(String line);
}
