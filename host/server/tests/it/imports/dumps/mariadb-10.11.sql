/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19  Distrib 10.11.14-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: localhost    Database: litebans
-- ------------------------------------------------------
-- Server version	10.11.14-MariaDB-0+deb12u2

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;

--
-- Current Database: `litebans`
--

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `litebans` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci */;

USE `litebans`;

--
-- Table structure for table `litebans_bans`
--

DROP TABLE IF EXISTS `litebans_bans`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `litebans_bans` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) DEFAULT NULL,
  `ip` varchar(45) DEFAULT NULL,
  `reason` varchar(2048) NOT NULL,
  `banned_by_uuid` varchar(36) NOT NULL,
  `banned_by_name` varchar(128) DEFAULT NULL,
  `removed_by_uuid` varchar(36) DEFAULT NULL,
  `removed_by_name` varchar(128) DEFAULT NULL,
  `removed_by_reason` varchar(2048) DEFAULT NULL,
  `removed_by_date` timestamp NOT NULL DEFAULT current_timestamp(),
  `time` bigint(20) NOT NULL,
  `until` bigint(20) NOT NULL,
  `template` tinyint(3) unsigned NOT NULL DEFAULT 255,
  `server_scope` varchar(32) DEFAULT NULL,
  `server_origin` varchar(32) DEFAULT NULL,
  `silent` bit(1) NOT NULL,
  `ipban` bit(1) NOT NULL,
  `ipban_wildcard` bit(1) NOT NULL DEFAULT b'0',
  `active` bit(1) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `uuid` (`uuid`)
) ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `litebans_bans`
--

LOCK TABLES `litebans_bans` WRITE;
/*!40000 ALTER TABLE `litebans_bans` DISABLE KEYS */;
INSERT INTO `litebans_bans` VALUES
(1,'069a79f4-44e9-4726-a5be-fca90e38aaf5','192.0.2.1','§cIt\'s \\ \"griefing\"; `x` -- no\nnext	tab','CONSOLE','Console',NULL,NULL,NULL,'2026-11-25 03:50:27',1750000000000,-1,255,'*','lobby','\0','\0','\0',''),
(2,'ec561538-f3fd-461d-aff5-086b22154bce','203.0.113.7','emoji 🏰 ип','069a79f4-44e9-4726-a5be-fca90e38aaf5','Steve','CONSOLE','Console','appeal; ok','2026-11-25 03:50:27',1750000000000,0,255,'*','lobby','\0','','\0','\0'),
(3,NULL,'198.51.100.9','ip only','CONSOLE','Console',NULL,NULL,NULL,'2026-11-25 03:50:27',1750000000000,0,255,'*','lobby','','','\0',''),
(4,'61699b2e-d327-4a01-9f1e-0ea8c3f06bc6','2001:db8::1','expired','CONSOLE','Console',NULL,'#expired',NULL,'2026-11-25 03:50:27',1750000000000,1750000100000,255,'*','lobby','\0','\0','\0','\0');
/*!40000 ALTER TABLE `litebans_bans` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `litebans_config`
--

DROP TABLE IF EXISTS `litebans_config`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `litebans_config` (
  `id` tinyint(4) DEFAULT NULL,
  `version` varchar(128) DEFAULT NULL,
  `build` varchar(128) DEFAULT NULL,
  `timezone` varchar(64) DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `litebans_config`
--

LOCK TABLES `litebans_config` WRITE;
/*!40000 ALTER TABLE `litebans_config` DISABLE KEYS */;
/*!40000 ALTER TABLE `litebans_config` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `litebans_history`
--

DROP TABLE IF EXISTS `litebans_history`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `litebans_history` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `date` timestamp NOT NULL DEFAULT current_timestamp(),
  `name` varchar(16) DEFAULT NULL,
  `uuid` varchar(36) DEFAULT NULL,
  `ip` varchar(45) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `litebans_history`
--

LOCK TABLES `litebans_history` WRITE;
/*!40000 ALTER TABLE `litebans_history` DISABLE KEYS */;
INSERT INTO `litebans_history` VALUES
(1,'2026-01-05 19:35:39','Steve','069a79f4-44e9-4726-a5be-fca90e38aaf5','192.0.2.1'),
(2,'2026-01-05 19:35:39','Alex','ec561538-f3fd-461d-aff5-086b22154bce','203.0.113.7'),
(3,'2026-01-05 19:35:39','CONSOLE','CONSOLE','#');
/*!40000 ALTER TABLE `litebans_history` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `litebans_kicks`
--

DROP TABLE IF EXISTS `litebans_kicks`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `litebans_kicks` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) DEFAULT NULL,
  `ip` varchar(45) DEFAULT NULL,
  `reason` varchar(2048) NOT NULL,
  `banned_by_uuid` varchar(36) NOT NULL,
  `banned_by_name` varchar(128) DEFAULT NULL,
  `removed_by_uuid` varchar(36) DEFAULT NULL,
  `removed_by_name` varchar(128) DEFAULT NULL,
  `removed_by_reason` varchar(2048) DEFAULT NULL,
  `removed_by_date` timestamp NOT NULL DEFAULT current_timestamp(),
  `time` bigint(20) NOT NULL,
  `until` bigint(20) NOT NULL,
  `template` tinyint(3) unsigned NOT NULL DEFAULT 255,
  `server_scope` varchar(32) DEFAULT NULL,
  `server_origin` varchar(32) DEFAULT NULL,
  `silent` bit(1) NOT NULL,
  `ipban` bit(1) NOT NULL,
  `ipban_wildcard` bit(1) NOT NULL DEFAULT b'0',
  `active` bit(1) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `uuid` (`uuid`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `litebans_kicks`
--

LOCK TABLES `litebans_kicks` WRITE;
/*!40000 ALTER TABLE `litebans_kicks` DISABLE KEYS */;
INSERT INTO `litebans_kicks` VALUES
(1,'069a79f4-44e9-4726-a5be-fca90e38aaf5','192.0.2.1','afk','CONSOLE','Console',NULL,NULL,NULL,'2026-11-25 03:50:27',1750000000000,-1,255,'*','lobby','\0','\0','\0','\0');
/*!40000 ALTER TABLE `litebans_kicks` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `litebans_mutes`
--

DROP TABLE IF EXISTS `litebans_mutes`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `litebans_mutes` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) DEFAULT NULL,
  `ip` varchar(45) DEFAULT NULL,
  `reason` varchar(2048) NOT NULL,
  `banned_by_uuid` varchar(36) NOT NULL,
  `banned_by_name` varchar(128) DEFAULT NULL,
  `removed_by_uuid` varchar(36) DEFAULT NULL,
  `removed_by_name` varchar(128) DEFAULT NULL,
  `removed_by_reason` varchar(2048) DEFAULT NULL,
  `removed_by_date` timestamp NOT NULL DEFAULT current_timestamp(),
  `time` bigint(20) NOT NULL,
  `until` bigint(20) NOT NULL,
  `template` tinyint(3) unsigned NOT NULL DEFAULT 255,
  `server_scope` varchar(32) DEFAULT NULL,
  `server_origin` varchar(32) DEFAULT NULL,
  `silent` bit(1) NOT NULL,
  `ipban` bit(1) NOT NULL,
  `ipban_wildcard` bit(1) NOT NULL DEFAULT b'0',
  `active` bit(1) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `uuid` (`uuid`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `litebans_mutes`
--

LOCK TABLES `litebans_mutes` WRITE;
/*!40000 ALTER TABLE `litebans_mutes` DISABLE KEYS */;
INSERT INTO `litebans_mutes` VALUES
(1,'069a79f4-44e9-4726-a5be-fca90e38aaf5','192.0.2.1','spam','CONSOLE','Console',NULL,NULL,NULL,'2026-11-25 03:50:27',1750000000000,1950000000000,255,'*','lobby','\0','\0','\0','');
/*!40000 ALTER TABLE `litebans_mutes` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `litebans_warnings`
--

DROP TABLE IF EXISTS `litebans_warnings`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `litebans_warnings` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) DEFAULT NULL,
  `ip` varchar(45) DEFAULT NULL,
  `reason` varchar(2048) NOT NULL,
  `banned_by_uuid` varchar(36) NOT NULL,
  `banned_by_name` varchar(128) DEFAULT NULL,
  `removed_by_uuid` varchar(36) DEFAULT NULL,
  `removed_by_name` varchar(128) DEFAULT NULL,
  `removed_by_reason` varchar(2048) DEFAULT NULL,
  `removed_by_date` timestamp NOT NULL DEFAULT current_timestamp(),
  `time` bigint(20) NOT NULL,
  `until` bigint(20) NOT NULL,
  `template` tinyint(3) unsigned NOT NULL DEFAULT 255,
  `server_scope` varchar(32) DEFAULT NULL,
  `server_origin` varchar(32) DEFAULT NULL,
  `silent` bit(1) NOT NULL,
  `ipban` bit(1) NOT NULL,
  `ipban_wildcard` bit(1) NOT NULL DEFAULT b'0',
  `active` bit(1) NOT NULL,
  `warned` bit(1) NOT NULL DEFAULT b'0',
  PRIMARY KEY (`id`),
  KEY `uuid` (`uuid`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `litebans_warnings`
--

LOCK TABLES `litebans_warnings` WRITE;
/*!40000 ALTER TABLE `litebans_warnings` DISABLE KEYS */;
INSERT INTO `litebans_warnings` VALUES
(1,'069a79f4-44e9-4726-a5be-fca90e38aaf5','192.0.2.1','','CONSOLE','Console',NULL,NULL,NULL,'2026-11-25 03:50:27',1750000000000,1950000000000,255,'*','lobby','\0','\0','\0','','');
/*!40000 ALTER TABLE `litebans_warnings` ENABLE KEYS */;
UNLOCK TABLES;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

-- Dump completed on 2026-11-25  3:50:27
